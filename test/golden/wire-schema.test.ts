import { AgentMessage, EnrollRequest, EnrollResponse, Grant, protocolVersion, ServerMessage, SignedGrant } from '@gpufleet/shared/protocol';
import { RolloutSpec } from '@gpufleet/shared/rollouts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { expectGolden } from './golden-file.ts';

// Two peers of different ages meet on these: a change of a schema must be seen, and be compatible or raise the version.
test.each([
  ['agent-message', AgentMessage],
  ['server-message', ServerMessage],
  ['grant', Grant],
  ['signed-grant', SignedGrant],
  ['enroll-request', EnrollRequest],
  ['enroll-response', EnrollResponse],
])('the wire schema %s is the one that was agreed', (name, schema) => {
  expectGolden(`test/golden/golden/wire-v${protocolVersion}/${name}.json`, `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`);
});

test('the published JSON Schema of a rollout is the one that the server checks', () => {
  expectGolden('docs/schemas/rollout.json', `${JSON.stringify(z.toJSONSchema(RolloutSpec, { io: 'input' }), null, 2)}\n`);
  expect(RolloutSpec.safeParse({ apiVersion: 'gpufleet/v1', kind: 'Rollout', name: 'a', jobs: [{ kind: 'restart_service', params: {} }] }).success).toBe(true);
});
