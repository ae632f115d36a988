import { expect, test } from 'vitest';
import type { AttemptOutcome } from '../protocol/attempt-report.ts';
import { foldContact, foldResult } from './fold-result.ts';
import { recountSlot } from './recount-slot.ts';
import { applyChanges, type Snapshot } from './snapshot.ts';
import type { RolloutState, SlotState } from './states.ts';
import { aSlot, aSnapshot } from './testing/a-world.ts';

function after(
  outcome: AttemptOutcome | 'void',
  parts: { slot?: SlotState; rollout?: RolloutState; second?: boolean; wasStopped?: boolean; snapshot?: Snapshot } = {},
) {
  const base = parts.snapshot ?? aSnapshot([aSlot('0', parts.slot ?? 'granted')]);
  const later = { id: 'job-0-b', slotId: '0', position: 1, state: 'queued' as const };
  const snapshot = {
    ...base,
    rollout: { ...base.rollout, state: parts.rollout ?? 'running' },
    jobs: parts.second ? [...base.jobs, later] : base.jobs,
  };
  const end = { jobId: 'job-0', outcome, detail: 'why', wasStopped: parts.wasStopped ?? false };
  const { slots, jobs, rollout } = applyChanges(snapshot, foldResult(snapshot, end, 5_000));
  return {
    slot: slots[0]?.state,
    jobs: jobs.map((job) => job.state),
    rollout: rollout.state,
    disposition: slots[0]?.disposition,
  };
}

test.each<[AttemptOutcome | 'void', SlotState, string]>([
  ['succeeded', 'succeeded', 'succeeded'],
  ['noop', 'noop', 'noop'],
  ['failed', 'failed', 'failed'],
  ['rolled_back', 'rolled_back', 'rolled_back'],
  ['rollback_failed', 'rollback_failed', 'rollback_failed'],
  ['canceled', 'canceled', 'canceled'],
  ['void', 'waiting', 'queued'],
])('an attempt that ended %s leaves the slot %s', (outcome, slot, job) => {
  expect(after(outcome)).toMatchObject({ slot, jobs: [job] });
});

test('the next job of the slot waits for its own grant', () => {
  expect(after('succeeded', { second: true })).toMatchObject({ slot: 'waiting', jobs: ['succeeded', 'queued'] });
  expect(after('failed', { second: true })).toMatchObject({ slot: 'failed', jobs: ['failed', 'queued'] });
  expect(after('succeeded', { second: true, rollout: 'canceling' })).toMatchObject({
    slot: 'canceled',
    jobs: ['succeeded', 'canceled'],
  });
});

test('an attempt that an emergency stop ended may run again, unless the rollout was canceled', () => {
  expect(after('canceled', { wasStopped: true, rollout: 'halted' })).toMatchObject({
    slot: 'waiting',
    jobs: ['queued'],
  });
  expect(after('canceled', { wasStopped: true, rollout: 'canceling' })).toMatchObject({
    slot: 'canceled',
    jobs: ['canceled'],
  });
});

test('a host that could not be put back halts at once, and a late success resumes nothing', () => {
  expect(after('rollback_failed').rollout).toBe('halted');
  expect(after('rollback_failed', { rollout: 'canceling' }).rollout).toBe('canceling');
  expect(after('succeeded', { slot: 'unknown', rollout: 'halted' })).toMatchObject({
    slot: 'succeeded',
    rollout: 'halted',
  });
});

test('a settled slot keeps what it is', () => {
  expect(after('failed', { slot: 'succeeded' }).slot).toBe('succeeded');
});

test('a second failure asks for a new disposition; what was accepted while unknown stays accepted', () => {
  const withDisposition = (disposition: 'retry' | 'accept', slot: SlotState) =>
    after('failed', { snapshot: aSnapshot([aSlot('0', slot, { disposition })]) }).disposition;
  expect(withDisposition('retry', 'granted')).toBeNull();
  expect(withDisposition('accept', 'unknown')).toBe('accept');
});

test('contact makes an unknown slot granted again, and nothing else', () => {
  const unknown = aSnapshot([aSlot('0', 'unknown')]);
  expect(applyChanges(unknown, foldContact(unknown, 'job-0', 1)).slots[0]?.state).toBe('granted');
  expect(foldContact(aSnapshot([aSlot('0', 'failed')]), 'job-0', 1)).toEqual({});
});

test.each([
  [['succeeded', 'noop'], 'succeeded'],
  [['noop', 'noop'], 'noop'],
  [['succeeded', 'rolled_back'], 'rolled_back'],
  [['succeeded', null], undefined],
  [['canceled'], undefined],
  [[], undefined],
] as const)('results %j are counted as %s', (outcomes, state) => {
  expect(recountSlot(outcomes)).toBe(state);
});
