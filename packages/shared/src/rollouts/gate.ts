import { isTail, type SlotView, type Snapshot, slotsOf, type WaveView } from './snapshot.ts';
import { type Threshold, toleratedFailures } from './thresholds.ts';

/** How a wave stands. `counted` is N, `tolerated` is T. */
export interface Counters {
  counted: number;
  tolerated: number;
  good: number;
  bad: number;
  unknown: number;
  running: number;
  waiting: number;
  deferred: number;
  leftOut: number;
}

export type Verdict =
  | { at: 'halt'; because: string; detail: string }
  /** All that count have settled, and enough of them well. */
  | { at: 'pass' }
  | { at: 'wait' };

const badStates = ['failed', 'rolled_back', 'rollback_failed'] as const;

export function isBad(slot: SlotView): boolean {
  return badStates.some((state) => state === slot.state);
}

/** A failure, or an open question, that a person took out of the count. */
export function isAccepted(slot: SlotView): boolean {
  return slot.disposition === 'accept' && (isBad(slot) || slot.state === 'unknown');
}

/** Counts the slots of one wave; a canary tolerates nothing. */
export function countSlots(slots: readonly SlotView[], failure: Threshold, isCanary = false): Counters {
  const counters = { good: 0, bad: 0, unknown: 0, running: 0, waiting: 0, deferred: 0, leftOut: 0 };
  for (const slot of slots) counters[placeOf(slot)] += 1;
  const counted = counters.good + counters.bad + counters.unknown + counters.running + counters.waiting;
  return { counted, tolerated: isCanary ? 0 : toleratedFailures(counted, failure), ...counters };
}

export function countWave(snapshot: Snapshot, wave: WaveView): Counters {
  return countSlots(slotsOf(snapshot, wave), snapshot.rollout.policy.failure, wave.isCanary);
}

/** One tolerance on both sides: what does not halt passes once everything has settled. */
export function judgeGate(snapshot: Snapshot, wave: WaveView): Verdict {
  const slots = slotsOf(snapshot, wave);
  const counters = countWave(snapshot, wave);
  const broken = slots.find((slot) => slot.state === 'rollback_failed' && !isAccepted(slot));
  if (broken)
    return { at: 'halt', because: 'rollback_failed', detail: `${nameOf(wave)}: a host could not be put back` };
  const against = counters.bad + counters.unknown;
  if (against > counters.tolerated)
    return {
      at: 'halt',
      because: wave.isCanary ? 'canary_failed' : 'too_many_failures',
      detail: `${nameOf(wave)}: ${counters.bad} failed and ${counters.unknown} unknown of ${counters.counted}, ${counters.tolerated} tolerated`,
    };
  const isSettled = counters.running + counters.waiting + counters.unknown === 0;
  return isSettled && counters.good >= counters.counted - counters.tolerated ? { at: 'pass' } : { at: 'wait' };
}

function nameOf(wave: WaveView): string {
  return isTail(wave) ? 'deferred hosts' : `wave ${wave.index} (${wave.name})`;
}

function placeOf(slot: SlotView): keyof Omit<Counters, 'counted' | 'tolerated'> {
  if (isAccepted(slot)) return 'leftOut';
  switch (slot.state) {
    case 'succeeded':
    case 'noop':
      return 'good';
    case 'failed':
    case 'rolled_back':
    case 'rollback_failed':
      return 'bad';
    case 'unknown':
      return 'unknown';
    case 'granted':
      return 'running';
    case 'queued':
    case 'waiting':
      return 'waiting';
    case 'deferred':
      return 'deferred';
    case 'canceled':
    case 'skipped':
    case 'superseded':
      return 'leftOut';
  }
}
