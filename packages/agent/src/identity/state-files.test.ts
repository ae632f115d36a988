import type { Grant } from '@gpufleet/shared/protocol';
import { expect, test } from 'vitest';
import { createMemoryStateDir } from '../host/state-dir/index.ts';
import { findIdentity } from './identity.ts';
import { openSeenGrants } from './seen-grants.ts';
import { openServerEpoch } from './server-epoch.ts';
import { createServerTime } from './server-time.ts';

function aGrant(attemptId: string, nonce: string): Grant {
  return {
    version: 1,
    hostId: 'host_1',
    attemptId,
    jobId: 'job_1',
    request: { kind: 'restart_service', params: {} },
    planHash: null,
    serverEpoch: 1,
    sessionEpoch: 1,
    notBeforeMs: 0,
    expiresAtMs: 1,
    deadlineMs: 1,
    nonce,
  };
}

test('a grant that was taken is known after a restart, by its attempt and by its nonce', async () => {
  const state = createMemoryStateDir();
  await (await openSeenGrants(state)).record(aGrant('a1', 'n1'));
  const seen = await openSeenGrants(state);
  expect(seen.has(aGrant('a1', 'other'))).toBe(true);
  expect(seen.has(aGrant('other', 'n1'))).toBe(true);
  expect(seen.has(aGrant('a2', 'n2'))).toBe(false);
});

test('the list of taken grants does not grow without bound, and one mangled line costs one entry', async () => {
  const state = createMemoryStateDir();
  const lines = Array.from({ length: 6_000 }, (_, i) =>
    JSON.stringify({ attemptId: `a${i}`, nonce: `n${i}`, expiresAtMs: 1 }),
  );
  await state.write('grants-seen.jsonl', `${lines.join('\n')}\n{"torn\n`);
  const seen = await openSeenGrants(state);
  await seen.record(aGrant('new', 'new'));
  expect(await state.readLines('grants-seen.jsonl')).toHaveLength(5_000);
  expect((await openSeenGrants(state)).has(aGrant('new', 'new'))).toBe(true);
});

test('a damaged identity is an error and is left where it is', async () => {
  const state = createMemoryStateDir();
  await state.write('identity.json', '{"format":1,"key":');
  await expect(findIdentity(state)).rejects.toMatchObject({ code: 'identity_unreadable' });
  expect(await state.read('identity.json')).toBe('{"format":1,"key":');
});

test('the highest server epoch is remembered and never goes back', async () => {
  const state = createMemoryStateDir();
  const epoch = await openServerEpoch(state);
  await epoch.learn(7);
  await epoch.learn(3);
  expect((await openServerEpoch(state)).seen()).toBe(7);
});

test("the server's time runs on the monotonic clock, whatever the host's own clock says", () => {
  let monotonicMs = 100;
  const never = () => () => undefined;
  const time = createServerTime({ nowMs: () => 0, monotonicMs: () => monotonicMs, after: never, every: never });
  expect(time.nowMs()).toBeUndefined();
  time.learn(1_900_000_000_000);
  monotonicMs += 5_000;
  expect(time.nowMs()).toBe(1_900_000_005_000);
});
