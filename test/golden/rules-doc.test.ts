import { renderRulesDoc, rules } from '@gpufleet/shared/diagnosis';
import { test } from 'vitest';
import { expectGolden } from './golden-file.ts';

test('docs/rules.md says what the rules are', () => {
  expectGolden('docs/rules.md', renderRulesDoc(rules));
});
