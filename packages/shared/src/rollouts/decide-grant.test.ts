import { expect, test } from 'vitest';
import { decideGrant, type GrantInput } from './decide-grant.ts';
import { Window } from './spec.ts';
import { aHost, aPolicy, aSite, aSlot, aSnapshot, aWave } from './testing/a-world.ts';

function decide(change: Partial<GrantInput> = {}) {
  return decideGrant({
    nowMs: 1_000,
    rollout: aSnapshot([]).rollout,
    wave: aWave(),
    host: aHost('host-0'),
    site: aSite(),
    cluster: null,
    hitsControlPlane: false,
    reconciliation: { isDone: true, untilMs: 0 },
    job: { id: 'job-0', state: 'queued', planHash: 'hash-1' },
    slot: aSlot('0'),
    isNextJob: true,
    claim: { sessionEpoch: 7, plan: { outcome: 'plan', planHash: 'hash-1', worstCaseMs: 60_000 } },
    sessionEpoch: 7,
    grantTtlMs: 30_000,
    ...change,
  });
}

const rollout = aSnapshot([]).rollout;

test('grants what stands up to every question', () => {
  expect(decide()).toEqual({ grant: true, expiresAtMs: 31_000, deadlineMs: 60_000 });
});

test.each<[string, Partial<GrantInput>, string]>([
  [
    'an older session',
    { claim: { sessionEpoch: 6, plan: { outcome: 'plan', planHash: 'hash-1', worstCaseMs: 1 } } },
    'stale_session',
  ],
  ['no live session', { sessionEpoch: undefined }, 'stale_session'],
  [
    'another plan',
    { claim: { sessionEpoch: 7, plan: { outcome: 'plan', planHash: 'other', worstCaseMs: 1 } } },
    'plan_changed',
  ],
  ['a job that is done', { job: { id: 'job-0', state: 'succeeded', planHash: null } }, 'not_queued'],
  ['a job whose turn has not come', { isNextJob: false }, 'not_queued'],
  ['a slot that was canceled', { slot: aSlot('0', 'canceled') }, 'slot_not_waiting'],
  ['a paused rollout', { rollout: { ...rollout, state: 'paused' } }, 'rollout'],
  ['an expired rollout', { rollout: { ...rollout, expiresAtMs: 1_000 } }, 'rollout'],
  ['a wave that is not open', { wave: aWave({ state: 'soaking' }) }, 'wave'],
  ['a host in quarantine', { host: aHost('host-0', { status: 'quarantined' }) }, 'policy'],
  ['a host that was revoked', { host: aHost('host-0', { status: 'decommissioned' }) }, 'policy'],
  ['a busy host', { host: aHost('host-0', { busyWith: 'attempt-9' }) }, 'lock'],
  ['a frozen site', { site: aSite({ freezes: [{ fromMs: 0, toMs: 2_000, reason: 'x' }] }) }, 'freeze'],
  [
    'a site with no budget left',
    { rollout: { ...rollout, policy: aPolicy({ budget: { percent: 10, max: 1 } }) }, site: aSite({ granted: ['a'] }) },
    'budget',
  ],
  ['a server that has just started', { reconciliation: { isDone: false, untilMs: 2_000 } }, 'dependency'],
])('refuses for %s', (_what, change, because) => {
  expect(decide(change)).toMatchObject({ grant: false, because });
});

test('a no-op may be claimed under any plan', () => {
  expect(decide({ claim: { sessionEpoch: 7, plan: { outcome: 'noop', planHash: null, worstCaseMs: 1 } } }).grant).toBe(
    true,
  );
});

test('a host that is out already takes no further budget by its own grant', () => {
  const policy = aPolicy({ budget: { percent: 10, max: 1 } });
  expect(decide({ rollout: { ...rollout, policy }, site: aSite({ unavailable: ['host-0'] }) }).grant).toBe(true);
});

test('a grant that is begun at its last moment still fits the window', () => {
  const window = Window.parse({ from: '01:00', to: '05:00' });
  const nowMs = Date.parse('2026-06-10T04:58:50Z');
  const late = decide({ nowMs, rollout: { ...rollout, policy: aPolicy({ window }) } });
  expect(late).toMatchObject({ grant: true, expiresAtMs: Date.parse('2026-06-10T04:59:00Z') });
});

test('the window is judged by the longer of what the host says and what was planned', () => {
  const window = Window.parse({ from: '01:00', to: '05:00' });
  const nowMs = Date.parse('2026-06-10T04:58:50Z');
  const claim = { sessionEpoch: 7, plan: { outcome: 'plan' as const, planHash: 'hash-1', worstCaseMs: 600_000 } };
  expect(decide({ nowMs, claim, rollout: { ...rollout, policy: aPolicy({ window }) } })).toMatchObject({
    because: 'window',
  });
});

test('a job of one host needs no rollout, window or budget, but the lock and the freeze', () => {
  const manual = { rollout: null, wave: null, slot: null };
  expect(decide({ ...manual, site: aSite({ size: 2, granted: ['a'] }) }).grant).toBe(true);
  expect(decide({ ...manual, host: aHost('host-0', { busyWith: 'attempt-9' }) })).toMatchObject({ because: 'lock' });
  expect(decide({ ...manual, site: aSite({ freezes: [{ fromMs: 0, toMs: 2_000, reason: 'x' }] }) })).toMatchObject({
    because: 'freeze',
  });
});
