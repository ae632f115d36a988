import { expect, test } from 'vitest';
import { Window } from './spec.ts';
import type { SlotState } from './states.ts';
import { aHost, aSite, aSlot, aSnapshot, aWave, aWorld } from './testing/a-world.ts';
import { planRollout } from './tick.ts';
import { declineRetryMs, offerTtlMs } from './world.ts';

const at = (iso: string) => Date.parse(iso);

function slots(...states: SlotState[]) {
  return states.map((state, position) => aSlot(`${position}`, state, { position }));
}

function heldOf(tick: ReturnType<typeof planRollout>) {
  return tick.held.map((each) => `${each.slotId} ${each.because}`);
}

test('offers within the budget and holds the rest with the reason', () => {
  const snapshot = aSnapshot(slots('granted', 'waiting', 'waiting', 'waiting'), {
    policy: { budget: { percent: 50, max: 2 } },
  });
  const world = aWorld(snapshot, { sites: [aSite({ size: 4, granted: ['host-0'] })] });
  const tick = planRollout(world);
  expect(tick.decisions).toEqual([{ do: 'offer', slotId: '1' }]);
  expect(heldOf(tick)).toEqual(['2 budget', '3 budget']);
  expect(tick.held[0]?.detail).toBe('2 of 2 hosts are out at site-a');
});

test('says when offline hosts alone have used the budget up', () => {
  const world = aWorld(aSnapshot(slots('waiting'), { policy: { budget: { percent: 25, max: 5 } } }), {
    sites: [aSite({ size: 8, unavailable: ['x', 'y'] })],
  });
  expect(planRollout(world).held[0]).toMatchObject({
    because: 'budget',
    detail: 'blocked: 2 offline at site-a, 2 may be out',
  });
});

test('an open offer keeps its place until its time is over', () => {
  const snapshot = aSnapshot(slots('waiting', 'waiting'), { policy: { budget: { percent: 10, max: 1 } } });
  const offers = new Map([['0', { slotId: '0', atMs: 1_000, isOpen: true, declinedBecause: null }]]);
  expect(heldOf(planRollout(aWorld(snapshot, { offers, nowMs: 2_000 })))).toEqual(['0 precheck', '1 budget']);
  const later = planRollout(aWorld(snapshot, { offers, nowMs: 1_000 + offerTtlMs }));
  expect(later.decisions).toEqual([{ do: 'offer', slotId: '0' }]);
});

test('a host that declined is asked again later and holds up nobody', () => {
  const snapshot = aSnapshot(slots('waiting', 'waiting'), { policy: { budget: { percent: 10, max: 1 } } });
  const declinedBecause = { because: 'plan_changed', detail: 'daemon.json was edited' };
  const offers = new Map([['0', { slotId: '0', atMs: 1_000, isOpen: false, declinedBecause }]]);
  const tick = planRollout(aWorld(snapshot, { offers, nowMs: 2_000 }));
  expect(tick.decisions).toEqual([{ do: 'offer', slotId: '1' }]);
  expect(tick.held[0]).toMatchObject({ because: 'precheck', detail: 'plan_changed: daemon.json was edited' });
  expect(tick.wakeAtMs).toBe(1_000 + declineRetryMs);
});

test('a wave opens only after the one before it passed', () => {
  const waves = [aWave({ index: 0, state: 'open' }), aWave({ index: 1, state: 'pending' })];
  const second = aSlot('1', 'queued', { waveIndex: 1 });
  const running = aSnapshot([aSlot('0', 'granted'), second], { waves });
  expect(planRollout(aWorld(running)).decisions).toEqual([]);
  const done = aSnapshot([aSlot('0', 'succeeded'), second], { waves });
  expect(planRollout(aWorld(done)).decisions).toEqual([{ do: 'pass_wave', index: 0 }]);
  const passed = aSnapshot([aSlot('0', 'succeeded'), second], {
    waves: [aWave({ state: 'passed' }), waves[1] ?? aWave()],
  });
  expect(planRollout(aWorld(passed)).decisions).toEqual([{ do: 'open_wave', index: 1, away: [] }]);
});

test('a wave soaks before it passes, and a manual gate waits for a person', () => {
  const policy = { soakMs: 60_000, gate: 'manual' as const };
  const open = aWorld(aSnapshot(slots('succeeded'), { policy }), { nowMs: 5_000 });
  expect(planRollout(open).decisions).toEqual([{ do: 'start_soak', index: 0, untilMs: 65_000 }]);
  const waves = [aWave({ state: 'soaking', soakUntilMs: 65_000 })];
  const soaking = (nowMs: number) => planRollout(aWorld(aSnapshot(slots('succeeded'), { policy, waves }), { nowMs }));
  expect(soaking(64_999)).toMatchObject({ decisions: [], wakeAtMs: 65_000 });
  expect(soaking(65_000).decisions).toEqual([{ do: 'await_gate', index: 0, because: 'manual' }]);
});

test('a wave whose hosts are all away waits for one of them before it is passed over; a canary asks a person', () => {
  const hosts = [aHost('host-0', { online: false, offlineSinceMs: 0 })];
  const tick = (isCanary: boolean, nowMs: number) =>
    planRollout(aWorld(aSnapshot(slots('deferred'), { waves: [aWave({ isCanary })] }), { hosts, nowMs }));
  expect(tick(false, 299_999)).toMatchObject({ decisions: [], wakeAtMs: 300_000 });
  expect(tick(false, 300_000).decisions).toEqual([{ do: 'pass_wave', index: 0 }]);
  expect(tick(true, 299_999).decisions).toEqual([]);
  expect(tick(true, 300_000).decisions).toEqual([{ do: 'await_gate', index: 0, because: 'canary_empty' }]);
});

test('a canary that was left out has shown nothing: a person decides', () => {
  const waves = [aWave({ isCanary: true })];
  expect(planRollout(aWorld(aSnapshot(slots('skipped'), { waves }))).decisions).toEqual([
    { do: 'await_gate', index: 0, because: 'canary_empty' },
  ]);
});

test('an unknown slot of a decommissioned host counts like a failure, and nobody waits for it', () => {
  const gone = [aHost('host-0', { online: false, offlineSinceMs: 0, status: 'decommissioned' })];
  const away = [aHost('host-0', { online: false, offlineSinceMs: 0 })];
  const twenty = slots('unknown', ...Array.from({ length: 19 }, () => 'succeeded' as const));
  const tick = (hosts: typeof gone, snapshot = aSnapshot(twenty)) => planRollout(aWorld(snapshot, { hosts }));
  expect(tick(away).decisions).toEqual([]);
  expect(tick(gone).decisions).toEqual([{ do: 'pass_wave', index: 0 }]);
  expect(tick(gone, aSnapshot(slots('unknown', 'waiting'))).decisions).toMatchObject([{ do: 'halt' }]);
  const snapshot = aSnapshot(slots('unknown'));
  const canceling = { ...snapshot, rollout: { ...snapshot.rollout, state: 'canceling' as const } };
  expect(tick(away, canceling).decisions).toEqual([]);
  expect(tick(gone, canceling).decisions).toEqual([{ do: 'finish_cancel' }]);
});

test('too many failures halt before anything else happens', () => {
  const world = aWorld(aSnapshot(slots('failed', 'waiting')));
  expect(planRollout(world).decisions).toMatchObject([{ do: 'halt', because: 'too_many_failures' }]);
});

test.each(['paused', 'halted', 'planned', 'approved'] as const)('a rollout that is %s offers nothing', (state) => {
  const snapshot = aSnapshot(slots('waiting', 'granted'));
  const world = aWorld({ ...snapshot, rollout: { ...snapshot.rollout, state } });
  const tick = planRollout(world);
  expect(tick.decisions).toEqual([]);
  expect(heldOf(tick)).toEqual(['0 rollout']);
});

test('a granted host is unknown once it is out of contact past its lease, reboot included', () => {
  const hosts = [aHost('host-0', { online: false, offlineSinceMs: 10_000 })];
  const world = (nowMs: number, rebootMs: number) =>
    aWorld(aSnapshot(slots('granted')), { hosts, nowMs, declaredOfflineMs: new Map([['0', rebootMs]]) });
  expect(planRollout(world(129_999, 0))).toMatchObject({ decisions: [], wakeAtMs: 130_000 });
  expect(planRollout(world(130_000, 0)).decisions).toEqual([{ do: 'mark_unknown', slotId: '0' }]);
  expect(planRollout(world(130_000, 600_000)).decisions).toEqual([]);
});

test('hosts that are away when their wave opens are told apart, but not right after a start of the server', () => {
  const waves = [aWave({ state: 'pending' })];
  const hosts = [aHost('host-0', { online: false, offlineSinceMs: 0 })];
  const opening = (untilMs: number) =>
    planRollout(
      aWorld(aSnapshot(slots('queued', 'queued'), { waves }), { hosts, reconciliation: { isDone: true, untilMs } }),
    );
  expect(opening(0).decisions).toEqual([{ do: 'open_wave', index: 0, away: ['0'] }]);
  expect(opening(9_000)).toMatchObject({ decisions: [], wakeAtMs: 9_000 });
});

test('a host that is away too long before its grant is left', () => {
  const hosts = [aHost('host-0', { online: false, offlineSinceMs: 0 })];
  const world = (nowMs: number) => aWorld(aSnapshot(slots('waiting', 'granted')), { hosts, nowMs });
  expect(planRollout(world(299_999))).toMatchObject({ decisions: [], wakeAtMs: 300_000 });
  expect(planRollout(world(300_000)).decisions).toEqual([{ do: 'leave_offline', slotId: '0' }]);
});

test('a deferred host that is back joins its wave while that is open, else the lane', () => {
  const back = (state: 'open' | 'passed') => {
    const waves = [aWave({ state }), aWave({ index: 1, state: state === 'open' ? 'pending' : 'open' })];
    return planRollout(aWorld(aSnapshot(slots('deferred', 'granted'), { waves }))).decisions;
  };
  expect(back('open')).toEqual([{ do: 'return_slot', slotId: '0', toTail: false }]);
  expect(back('passed')).toEqual([{ do: 'return_slot', slotId: '0', toTail: true }]);
});

test('the slot of a decommissioned host is left out', () => {
  const world = aWorld(aSnapshot(slots('waiting', 'granted')), {
    hosts: [aHost('host-0', { status: 'decommissioned' })],
  });
  expect(planRollout(world).decisions).toEqual([{ do: 'skip_slot', slotId: '0' }]);
});

test('when every remaining host waits for its window, the rollout itself does', () => {
  const window = Window.parse({ from: '01:00', to: '05:00' });
  const world = (now: string, state: 'running' | 'waiting_window') => {
    const snapshot = aSnapshot(slots('succeeded', 'waiting'), { policy: { window } });
    return aWorld({ ...snapshot, rollout: { ...snapshot.rollout, state } }, { nowMs: at(now) });
  };
  const shut = planRollout(world('2026-06-10T12:00:00Z', 'running'));
  expect(shut.decisions).toEqual([{ do: 'wait_for_window' }]);
  expect(shut.wakeAtMs).toBe(at('2026-06-11T01:00:00Z'));
  expect(planRollout(world('2026-06-11T01:00:00Z', 'waiting_window')).decisions).toEqual([
    { do: 'leave_window' },
    { do: 'offer', slotId: '1' },
  ]);
});

test('work that does not fit in what is left of the window waits for the next one', () => {
  const window = Window.parse({ from: '01:00', to: '05:00' });
  const snapshot = aSnapshot([aSlot('0', 'waiting', { worstCaseMs: 600_000 })], { policy: { window } });
  const tick = (now: string) => planRollout(aWorld(snapshot, { nowMs: at(now) }));
  expect(tick('2026-06-10T04:50:00Z').decisions).toEqual([{ do: 'offer', slotId: '0' }]);
  expect(tick('2026-06-10T04:50:01Z').held[0]).toMatchObject({ because: 'window' });
});

test('nothing starts at a frozen site', () => {
  const freezes = [{ fromMs: 0, toMs: 5_000, reason: 'year end' }];
  const tick = planRollout(aWorld(aSnapshot(slots('waiting')), { sites: [aSite({ freezes })] }));
  expect(tick.held[0]).toMatchObject({ because: 'freeze', detail: 'site site-a is frozen: year end', wakeAtMs: 5_000 });
});

test('a server of a small cluster waits for a person’s acknowledgement, one of three for the quorum', () => {
  const hosts = [aHost('host-0', { clusterId: 'c' })];
  const held = (servers: string[], out: string[]) =>
    planRollout(
      aWorld(aSnapshot(slots('waiting')), {
        hosts,
        controlPlaneSlots: new Set(['0']),
        clusters: new Map([['c', { id: 'c', servers, out }]]),
      }),
    ).held[0]?.because;
  expect(held(['host-0'], [])).toBe('policy');
  expect(held(['host-0', 'b', 'c'], ['b'])).toBe('budget');
  expect(held(['host-0', 'b', 'c'], [])).toBeUndefined();
});

test('once all waves passed, deferred hosts have until the catch-up time', () => {
  const waves = [aWave({ state: 'passed' })];
  const hosts = [aHost('host-1', { online: false, offlineSinceMs: 0 })];
  const snapshot = aSnapshot(slots('succeeded', 'deferred'), { waves });
  expect(planRollout(aWorld(snapshot, { hosts })).decisions).toEqual([{ do: 'begin_catch_up', untilMs: 3_601_000 }]);
  const completing = {
    ...snapshot,
    rollout: { ...snapshot.rollout, state: 'completing' as const, catchUpUntilMs: 9_000 },
  };
  expect(planRollout(aWorld(completing, { hosts, nowMs: 8_999 }))).toMatchObject({ decisions: [], wakeAtMs: 9_000 });
  expect(planRollout(aWorld(completing, { hosts, nowMs: 9_000 })).decisions).toEqual([{ do: 'complete' }]);
});

test('an expired rollout ends', () => {
  const snapshot = aSnapshot(slots('waiting'));
  const world = aWorld({ ...snapshot, rollout: { ...snapshot.rollout, expiresAtMs: 1_000 } });
  expect(planRollout(world).decisions).toEqual([{ do: 'expire' }]);
});

test('right after a start nothing is offered before hosts with open attempts have told them', () => {
  const tick = planRollout(aWorld(aSnapshot(slots('waiting')), { reconciliation: { isDone: false, untilMs: 4_000 } }));
  expect(tick.decisions).toEqual([]);
  expect(tick.held[0]).toMatchObject({ because: 'dependency', wakeAtMs: 4_000 });
});
