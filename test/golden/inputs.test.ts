import { test } from 'vitest';
import { listInputs } from '../../packages/agent/src/commands/inputs.ts';
import { expectGolden } from './golden-file.ts';

// Whoever records hosts, or answers for them in a test, relies on these paths and argvs: a change is a changelog entry.
test('what the agent reads of a host is what was agreed', () => {
  expectGolden('test/golden/golden/inputs.json', `${JSON.stringify(listInputs(), null, 2)}\n`);
});
