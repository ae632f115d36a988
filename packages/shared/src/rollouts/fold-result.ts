import type { AttemptOutcome } from '../protocol/attempt-report.ts';
import { isActive } from './grant-checks.ts';
import { type Changes, jobsOf, type Snapshot } from './snapshot.ts';

/** What became of an attempt. `void`: it never began and never will; nothing was done. */
export interface AttemptEnd {
  jobId: string;
  outcome: AttemptOutcome | 'void';
  detail: string;
  /** The attempt was stopped by an emergency stop: it may run again when the rollout is resumed. */
  wasStopped: boolean;
}

/** Takes the end of an attempt into its slot. A slot that has settled keeps what it is. */
export function foldResult(snapshot: Snapshot, end: AttemptEnd, nowMs: number): Changes {
  const job = snapshot.jobs.find((each) => each.id === end.jobId);
  const slot = snapshot.slots.find((each) => each.id === job?.slotId);
  if (!job || !slot || (slot.state !== 'granted' && slot.state !== 'unknown')) return {};
  const later = jobsOf(snapshot, slot.id).filter((each) => each.position > job.position && each.state === 'queued');
  const isEnding = !isActive(snapshot.rollout) && !['paused', 'halted'].includes(snapshot.rollout.state);
  const at = { id: slot.id, because: null, sinceMs: nowMs } as const;
  const cancelLater = later.map((each) => ({ id: each.id, state: 'canceled' as const }));

  if (end.outcome === 'void' || (end.outcome === 'canceled' && end.wasStopped)) {
    return isEnding
      ? {
          slots: [{ ...at, state: 'canceled', detail: end.detail }],
          jobs: [{ id: job.id, state: 'canceled' }, ...cancelLater],
        }
      : { slots: [{ ...at, state: 'waiting', detail: end.detail }], jobs: [{ id: job.id, state: 'queued' }] };
  }
  const settled = { id: job.id, state: end.outcome };
  if (end.outcome === 'canceled')
    return { slots: [{ ...at, state: 'canceled', detail: end.detail }], jobs: [settled, ...cancelLater] };
  if (end.outcome === 'succeeded' || end.outcome === 'noop') {
    if (later.length > 0)
      return isEnding
        ? { slots: [{ ...at, state: 'canceled', detail: 'the rollout ended' }], jobs: [settled, ...cancelLater] }
        : { slots: [{ ...at, state: 'waiting', detail: 'its next job waits' }], jobs: [settled] };
    const others = jobsOf(snapshot, slot.id).filter((each) => each.id !== job.id);
    const didSomething = end.outcome === 'succeeded' || others.some((each) => each.state === 'succeeded');
    return {
      slots: [{ ...at, state: didSomething ? 'succeeded' : 'noop', detail: null }],
      jobs: [settled],
    };
  }
  return {
    ...(end.outcome === 'rollback_failed' ? { rollout: haltOn(snapshot, slot.hostId) } : {}),
    slots: [
      {
        ...at,
        state: end.outcome,
        detail: end.detail,
        // `retry` was for the attempt before; this failure asks again. `accept` covers an unknown slot's result.
        disposition: slot.disposition === 'accept' ? 'accept' : null,
      },
    ],
    jobs: [settled],
  };
}

/** The slot is in contact again while its attempt runs. */
export function foldContact(snapshot: Snapshot, jobId: string, nowMs: number): Changes {
  const job = snapshot.jobs.find((each) => each.id === jobId);
  const slot = snapshot.slots.find((each) => each.id === job?.slotId);
  if (!job || slot?.state !== 'unknown') return {};
  return {
    slots: [{ id: slot.id, state: 'granted', detail: null, sinceMs: nowMs }],
    jobs: [{ id: job.id, state: 'running' }],
  };
}

/** A host that could not be put back stops everything, in whichever wave it is. */
function haltOn(snapshot: Snapshot, hostId: string): Changes['rollout'] {
  if (!isActive(snapshot.rollout) && snapshot.rollout.state !== 'paused') return {};
  return { state: 'halted', because: 'rollback_failed', becauseDetail: `host ${hostId} could not be put back` };
}
