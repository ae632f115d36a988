import { endWaitingSlots } from './apply-decision.ts';
import { countWave, isBad } from './gate.ts';
import { isActive } from './grant-checks.ts';
import {
  type Changes,
  currentWave,
  isTail,
  jobsOf,
  type SlotView,
  type Snapshot,
  slotsOf,
  type WaveView,
} from './snapshot.ts';
import type { Disposition } from './states.ts';
import { canMove, rolloutMoves } from './transitions.ts';

export type Operated =
  | { ok: true; changes: Changes }
  | { ok: false; because: 'bad_rollout_state' | 'bad_disposition'; detail: string }
  | { ok: false; because: 'slots_need_disposition'; detail: string; slots: SlotView[] };

export function approve(snapshot: Snapshot): Operated {
  const { state } = snapshot.rollout;
  if (state !== 'planned' && state !== 'awaiting_approval') return wrongState(snapshot, 'approved');
  return { ok: true, changes: { rollout: { state: 'approved', because: null, becauseDetail: null } } };
}

export function start(snapshot: Snapshot, nowMs: number): Operated {
  const { state } = snapshot.rollout;
  if (state !== 'approved' && state !== 'scheduled') return wrongState(snapshot, 'started');
  return { ok: true, changes: { rollout: { state: 'running', startedAtMs: nowMs } } };
}

/** No grant after this; what was granted finishes. */
export function pause(snapshot: Snapshot, reason: string): Operated {
  if (!isActive(snapshot.rollout)) return wrongState(snapshot, 'paused');
  return { ok: true, changes: { rollout: { state: 'paused', because: 'paused', becauseDetail: reason } } };
}

/** Waiting slots end at once; granted ones are asked to stop and are waited for. */
export function cancel(snapshot: Snapshot, reason: string, nowMs: number): Operated {
  const { state } = snapshot.rollout;
  const isOver = state === 'canceled' || state === 'canceling';
  if (isOver || !canMove(rolloutMoves, state, 'canceled')) return wrongState(snapshot, 'canceled');
  const isRunning = snapshot.slots.some((slot) => slot.state === 'granted' || slot.state === 'unknown');
  return {
    ok: true,
    changes: {
      ...endWaitingSlots(snapshot, 'canceled', reason, nowMs),
      rollout: {
        state: isRunning ? 'canceling' : 'canceled',
        because: 'canceled',
        becauseDetail: reason,
        ...(isRunning ? {} : { endedAtMs: nowMs }),
      },
    },
  };
}

/** Emergency stop of one rollout: like a halt, whatever its gate says. */
export function stop(snapshot: Snapshot, reason: string): Operated {
  if (!isActive(snapshot.rollout) && snapshot.rollout.state !== 'paused') return wrongState(snapshot, 'stopped');
  return { ok: true, changes: { rollout: { state: 'halted', because: 'stopped', becauseDetail: reason } } };
}

/** A person opens a gate that waits for one. */
export function passGate(snapshot: Snapshot, nowMs: number): Operated {
  const wave = currentWave(snapshot);
  if (!isActive(snapshot.rollout) || wave?.state !== 'awaiting_gate')
    return wrongState(snapshot, 'passed: no gate waits');
  return { ok: true, changes: { waves: [{ index: wave.index, state: 'passed', endedAtMs: nowMs }] } };
}

export interface Resumption {
  /** By slot id. */
  dispositions: ReadonlyMap<string, Disposition>;
  /** For every slot that needs one and is not in `dispositions`. */
  disposition: Disposition | undefined;
}

/** Goes on after a pause, or clears a halt: then each slot that went wrong needs a decision. */
export function resume(snapshot: Snapshot, { dispositions, disposition }: Resumption, nowMs: number): Operated {
  const { state } = snapshot.rollout;
  if (state !== 'paused' && state !== 'halted') return wrongState(snapshot, 'resumed');
  const needing = state === 'halted' ? slotsInNeed(snapshot) : [];
  const chosen = new Map(dispositions);
  for (const slot of needing) if (disposition && !chosen.has(slot.id)) chosen.set(slot.id, disposition);
  const missing = needing.filter((slot) => !chosen.has(slot.id));
  if (missing.length > 0)
    return {
      ok: false,
      because: 'slots_need_disposition',
      detail: `${missing.length} slot(s) need retry or accept before the rollout goes on`,
      slots: missing,
    };
  const slots: NonNullable<Changes['slots']> = [];
  const jobs: NonNullable<Changes['jobs']> = [];
  for (const [slotId, choice] of chosen) {
    const slot = snapshot.slots.find((each) => each.id === slotId);
    const change = slot ? dispose(snapshot, slot, choice, nowMs) : undefined;
    if (!change)
      return {
        ok: false,
        because: 'bad_disposition',
        detail: `slot ${slotId}, ${slot?.state ?? 'unknown to this rollout'}, does not take ${choice}`,
      };
    slots.push(...(change.slots ?? []));
    jobs.push(...(change.jobs ?? []));
  }
  const failed = snapshot.waves.filter((wave) => wave.state === 'failed');
  return {
    ok: true,
    changes: {
      rollout: { state: 'running', because: null, becauseDetail: null },
      waves: failed.map(({ index }) => ({ index, state: 'open', endedAtMs: null })),
      slots,
      jobs,
    },
  };
}

/** Slots of the halted waves that a person must decide about. */
function slotsInNeed(snapshot: Snapshot): SlotView[] {
  return snapshot.waves
    .filter((wave) => isTail(wave) || (wave.state !== 'pending' && wave.state !== 'passed'))
    .flatMap((wave) => {
      const open = slotsOf(snapshot, wave).filter((slot) => slot.disposition !== 'accept');
      const unknown = mustSettleUnknown(snapshot, wave) ? open.filter((slot) => slot.state === 'unknown') : [];
      return [...open.filter(isBad), ...unknown];
    });
}

/** More hosts are unknown than the gate tolerates: it would halt again at once. */
function mustSettleUnknown(snapshot: Snapshot, wave: WaveView): boolean {
  const counters = countWave(snapshot, wave);
  return counters.unknown > counters.tolerated;
}

/** undefined: this slot does not take that disposition. */
function dispose(snapshot: Snapshot, slot: SlotView, choice: Disposition, nowMs: number): Changes | undefined {
  const jobs = jobsOf(snapshot, slot.id);
  const queued = jobs
    .filter((job) => job.state === 'queued')
    .map((job) => ({ id: job.id, state: 'canceled' as const }));
  if (choice === 'retry') {
    const wave = snapshot.waves.find((each) => each.index === slot.waveIndex);
    // A wave that has passed takes nobody back.
    if (!isBad(slot) || wave?.state === 'passed') return undefined;
    const failed = jobs.filter((job) => ['failed', 'rolled_back', 'rollback_failed'].includes(job.state));
    return {
      slots: [{ id: slot.id, state: 'waiting', disposition: 'retry', because: null, detail: null, sinceMs: nowMs }],
      jobs: failed.map((job) => ({ id: job.id, state: 'queued' })),
    };
  }
  if (isBad(slot)) return { slots: [{ id: slot.id, disposition: 'accept' }], jobs: queued };
  if (slot.state === 'unknown') return { slots: [{ id: slot.id, disposition: 'accept' }] };
  if (slot.state !== 'waiting' && slot.state !== 'deferred') return undefined;
  return {
    slots: [{ id: slot.id, state: 'skipped', detail: 'left out by a person', sinceMs: nowMs }],
    jobs: queued,
  };
}

function wrongState(snapshot: Snapshot, verb: string): Operated {
  return {
    ok: false,
    because: 'bad_rollout_state',
    detail: `a rollout that is ${snapshot.rollout.state} cannot be ${verb}`,
  };
}
