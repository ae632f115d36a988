import { expect, test } from 'vitest';
import { approve, cancel, type Operated, passGate, pause, resume, start, stop } from './operate.ts';
import { applyChanges, type Snapshot } from './snapshot.ts';
import type { Disposition, RolloutState, SlotState } from './states.ts';
import { aSlot, aSnapshot, aWave } from './testing/a-world.ts';

function inState(
  state: RolloutState,
  slots: SlotState[] = ['waiting'],
  waveState: 'open' | 'failed' | 'passed' | 'awaiting_gate' = 'open',
): Snapshot {
  const snapshot = aSnapshot(
    slots.map((each, at) => aSlot(`${at}`, each)),
    { waves: [aWave({ state: waveState })] },
  );
  return { ...snapshot, rollout: { ...snapshot.rollout, state } };
}

function show(snapshot: Snapshot, operated: Operated): string {
  if (!operated.ok) return operated.because;
  const after = applyChanges(snapshot, operated.changes);
  const jobs = after.jobs.map((job) => job.state).join(',');
  return `${after.rollout.state} ${after.waves[0]?.state} ${after.slots.map((slot) => slot.state).join(',')} ${jobs}`;
}

function resumed(snapshot: Snapshot, chosen: Record<string, Disposition> = {}, disposition?: Disposition): string {
  return show(snapshot, resume(snapshot, { dispositions: new Map(Object.entries(chosen)), disposition }, 1));
}

test.each<[string, (snapshot: Snapshot) => Operated, RolloutState[]]>([
  ['approve', approve, ['planned', 'awaiting_approval']],
  ['start', (s) => start(s, 1), ['approved', 'scheduled']],
  ['pause', (s) => pause(s, 'x'), ['running', 'waiting_window', 'completing']],
  ['stop', (s) => stop(s, 'x'), ['running', 'waiting_window', 'completing', 'paused']],
  ['resume', (s) => resume(s, { dispositions: new Map(), disposition: undefined }, 1), ['paused', 'halted']],
])('%s is for exactly these states', (_name, operate, states) => {
  const all: RolloutState[] = [
    'planned',
    'awaiting_approval',
    'approved',
    'scheduled',
    'running',
    'paused',
    'waiting_window',
    'halted',
    'completing',
    'canceling',
    'canceled',
    'succeeded',
    'stale',
  ];
  expect(all.filter((state) => operate(inState(state)).ok).sort()).toEqual([...states].sort());
});

test('a cancel ends waiting slots and waits for what runs', () => {
  const running = inState('running', ['queued', 'waiting', 'deferred', 'granted', 'succeeded']);
  expect(show(running, cancel(running, 'x', 1))).toBe(
    'canceling open canceled,canceled,canceled,granted,succeeded canceled,canceled,canceled,running,succeeded',
  );
  const idle = inState('running', ['waiting', 'failed']);
  expect(show(idle, cancel(idle, 'x', 1))).toBe('canceled open canceled,failed canceled,failed');
  expect(cancel(inState('canceled'), 'x', 1).ok).toBe(false);
});

test('a halt is cleared only with a decision for each slot that went wrong', () => {
  const halted = inState('halted', ['failed', 'rolled_back', 'waiting'], 'failed');
  expect(resumed(halted)).toBe('slots_need_disposition');
  expect(resumed(halted, { '0': 'retry' })).toBe('slots_need_disposition');
  expect(resumed(halted, { '0': 'retry', '1': 'accept' })).toBe(
    'running open waiting,rolled_back,waiting queued,rolled_back,queued',
  );
  expect(resumed(halted, {}, 'retry')).toBe('running open waiting,waiting,waiting queued,queued,queued');
});

test('unknown hosts that would halt it again must be accepted or come back', () => {
  const halted = inState('halted', ['unknown', 'waiting'], 'failed');
  expect(resumed(halted)).toBe('slots_need_disposition');
  expect(resumed(halted, { '0': 'retry' })).toBe('bad_disposition');
  expect(resumed(halted, { '0': 'accept' })).toBe('running open unknown,waiting unknown,queued');
});

test('a person may leave out a host that waits, and not one that is done', () => {
  expect(resumed(inState('paused', ['waiting', 'succeeded']), { '0': 'accept' })).toBe(
    'running open skipped,succeeded canceled,succeeded',
  );
  expect(resumed(inState('paused', ['succeeded']), { '0': 'accept' })).toBe('bad_disposition');
  expect(resumed(inState('paused', ['succeeded']), { x: 'accept' })).toBe('bad_disposition');
});

test('a wave that has passed takes nobody back', () => {
  expect(resumed(inState('paused', ['failed'], 'passed'), { '0': 'retry' })).toBe('bad_disposition');
});

test('a gate is passed only where one waits for a person', () => {
  const awaiting = inState('running', ['succeeded'], 'awaiting_gate');
  expect(show(awaiting, passGate(awaiting, 1))).toBe('running passed succeeded succeeded');
  expect(passGate(inState('running'), 1).ok).toBe(false);
  expect(passGate(inState('halted', ['succeeded'], 'awaiting_gate'), 1).ok).toBe(false);
});
