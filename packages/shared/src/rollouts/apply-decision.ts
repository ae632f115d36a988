import {
  type Changes,
  isTail,
  type JobView,
  jobsOf,
  type SlotView,
  type Snapshot,
  slotsOf,
  tailWaveName,
  type WaveView,
} from './snapshot.ts';
import type { Decision } from './tick.ts';

/** What a decision of the planner changes. An offer changes nothing here: it is only a question. */
export function applyDecision(snapshot: Snapshot, decision: Decision, nowMs: number): Changes {
  switch (decision.do) {
    case 'offer':
      return {};
    case 'open_wave':
      return openWave(snapshot, decision.index, decision.away, nowMs);
    case 'leave_offline':
      return leaveOffline(snapshot, [decision.slotId], nowMs);
    case 'skip_slot':
      return {
        slots: [
          {
            id: decision.slotId,
            state: 'skipped',
            because: null,
            detail: 'its host is decommissioned',
            sinceMs: nowMs,
          },
        ],
        jobs: queuedJobs(snapshot, decision.slotId).map((job) => ({ id: job.id, state: 'canceled' })),
      };
    case 'return_slot':
      return returnSlot(snapshot, decision.slotId, decision.toTail, nowMs);
    case 'mark_unknown':
      return {
        slots: [{ id: decision.slotId, state: 'unknown', detail: 'out of contact past its lease', sinceMs: nowMs }],
        jobs: jobsOf(snapshot, decision.slotId)
          .filter((job) => job.state === 'running')
          .map((job) => ({ id: job.id, state: 'unknown' })),
      };
    case 'start_soak':
      return { waves: [{ index: decision.index, state: 'soaking', soakUntilMs: decision.untilMs }] };
    case 'await_gate':
      return { waves: [{ index: decision.index, state: 'awaiting_gate' }] };
    case 'pass_wave':
      return { waves: [{ index: decision.index, state: 'passed', endedAtMs: nowMs }] };
    case 'halt':
      return {
        rollout: { state: 'halted', because: decision.because, becauseDetail: decision.detail },
        // The lane of deferred hosts is no stage that could fail.
        waves: snapshot.waves
          .filter((wave) => wave.index === decision.index && !isTail(wave))
          .map((wave) => ({ index: wave.index, state: 'failed', endedAtMs: nowMs })),
      };
    case 'wait_for_window':
      return {
        rollout: {
          state: 'waiting_window',
          because: 'window',
          becauseDetail: 'every remaining host waits for its window',
        },
      };
    case 'leave_window':
      return { rollout: { state: 'running', because: null, becauseDetail: null } };
    case 'begin_catch_up':
      return {
        rollout: {
          state: 'completing',
          catchUpUntilMs: decision.untilMs,
          because: 'catch_up',
          becauseDetail: 'all waves passed; deferred hosts may still come back',
        },
      };
    case 'complete':
      return complete(snapshot, nowMs);
    case 'expire':
      return expire(snapshot, nowMs);
    case 'finish_cancel':
      return { rollout: { state: 'canceled', endedAtMs: nowMs } };
  }
}

/** Ends every slot without a grant, and its jobs. */
export function endWaitingSlots(
  snapshot: Snapshot,
  state: 'canceled' | 'skipped',
  detail: string,
  nowMs: number,
): Changes {
  const slots = snapshot.slots.filter((slot) => ['queued', 'waiting', 'deferred'].includes(slot.state));
  const jobs = snapshot.slots.flatMap((slot) => (isHeld(slot) ? [] : queuedJobs(snapshot, slot.id)));
  return {
    slots: slots.map((slot) => ({ id: slot.id, state, because: null, detail, sinceMs: nowMs })),
    jobs: jobs.map((job) => ({ id: job.id, state: 'canceled' })),
  };
}

function queuedJobs(snapshot: Snapshot, slotId: string): JobView[] {
  return jobsOf(snapshot, slotId).filter((job) => job.state === 'queued');
}

function isHeld(slot: SlotView): boolean {
  return slot.state === 'granted' || slot.state === 'unknown';
}

function openWave(snapshot: Snapshot, index: number, away: readonly string[], nowMs: number): Changes {
  const wave = snapshot.waves.find((each) => each.index === index);
  const slots = wave ? slotsOf(snapshot, wave).filter((slot) => slot.state === 'queued') : [];
  const absent = leaveOffline(snapshot, away, nowMs);
  const present = slots
    .filter((slot) => !away.includes(slot.id))
    .map((slot) => ({ id: slot.id, state: 'waiting' as const, sinceMs: nowMs }));
  return {
    waves: [{ index, state: 'open', openedAtMs: nowMs }],
    slots: [...present, ...(absent.slots ?? [])],
    jobs: absent.jobs ?? [],
  };
}

function leaveOffline(snapshot: Snapshot, slotIds: readonly string[], nowMs: number): Changes {
  const state = { defer: 'deferred', skip: 'skipped', fail: 'failed', wait: 'waiting' } as const;
  const { offline } = snapshot.rollout.policy;
  const skipped = offline === 'skip' ? slotIds.flatMap((id) => queuedJobs(snapshot, id)) : [];
  return {
    slots: slotIds.map((id) => ({
      id,
      state: state[offline],
      because: offline === 'defer' ? 'offline' : null,
      detail: 'it was offline when its turn came',
      sinceMs: nowMs,
    })),
    jobs: skipped.map((job) => ({ id: job.id, state: 'canceled' })),
  };
}

function returnSlot(snapshot: Snapshot, slotId: string, toTail: boolean, nowMs: number): Changes {
  const back = { id: slotId, state: 'waiting' as const, because: null, detail: null, sinceMs: nowMs };
  if (!toTail) return { slots: [back] };
  const tail = snapshot.waves.find(isTail);
  const index = tail?.index ?? Math.max(-1, ...snapshot.waves.map((wave) => wave.index)) + 1;
  return { waves: tail ? [] : [openTail(index, nowMs)], slots: [{ ...back, waveIndex: index }] };
}

function openTail(index: number, nowMs: number): WaveView {
  return {
    index,
    name: tailWaveName,
    state: 'open',
    isCanary: false,
    openedAtMs: nowMs,
    soakUntilMs: null,
    endedAtMs: null,
  };
}

function complete(snapshot: Snapshot, nowMs: number): Changes {
  const isWhole = snapshot.slots.every((slot) => slot.state === 'succeeded' || slot.state === 'noop');
  return {
    ...endWaitingSlots(snapshot, 'skipped', 'it did not come back while the rollout was current', nowMs),
    rollout: {
      state: isWhole ? 'succeeded' : 'completed_with_exceptions',
      because: null,
      becauseDetail: null,
      endedAtMs: nowMs,
    },
    waves: snapshot.waves.filter(isTail).map(({ index }) => ({ index, state: 'passed', endedAtMs: nowMs })),
  };
}

function expire(snapshot: Snapshot, nowMs: number): Changes {
  const because = { because: 'expired', becauseDetail: 'its expiresAt has come' };
  const ended = endWaitingSlots(snapshot, 'canceled', 'the rollout expired', nowMs);
  const { state } = snapshot.rollout;
  if (state === 'planned' || state === 'awaiting_approval' || state === 'approved' || state === 'scheduled')
    return { ...ended, rollout: { state: 'stale', ...because, endedAtMs: nowMs } };
  if (state === 'draft') return { ...ended, rollout: { state: 'canceled', ...because, endedAtMs: nowMs } };
  const isRunning = snapshot.slots.some(isHeld);
  return {
    ...ended,
    rollout: { state: isRunning ? 'canceling' : 'canceled', ...because, ...(isRunning ? {} : { endedAtMs: nowMs }) },
  };
}
