import type { AttemptOutcome, AttemptPhase } from '../../protocol/attempt-report.ts';
import { mayCutOff } from '../describe-step.ts';
import { kindOf, type PlanReason, type Step } from '../step.ts';
import { type AttemptState, begunSteps, type Progress } from './attempt-state.ts';
import type { EntryOf, Lane } from './journal.ts';

/** What the shell does next. After a crash the same question gives the way on: nothing is remembered elsewhere. */
export type Move =
  | { do: 'plan' }
  | { do: 'snapshot' }
  | { do: 'run_step'; lane: Lane; index: number; step: Step }
  /** A step was begun and its end is not known: look whether the effect is there. */
  | { do: 'probe_step'; lane: Lane; index: number; step: Step; before: unknown }
  | { do: 'verify' }
  | { do: 'confirm' }
  | { do: 'plan_undo'; cause: EntryOf<'undo_planned'>['cause']; because: PlanReason[] }
  | { do: 'settle'; outcome: AttemptOutcome; because: PlanReason[] }
  | { do: 'nothing' };

export interface Circumstances {
  /** Since the grant, on the monotonic clock. */
  elapsedMs: number;
  onCancel: 'finish' | 'roll_back';
}

export function nextMove(state: AttemptState, now: Circumstances): Move {
  if (state.settled) return { do: 'nothing' };
  if (state.undo) return nextUndoMove(state.undo, state.forward);
  if (!state.planned) return beforePlan(state, now);
  const { outcome, because } = state.planned;
  if (outcome === 'noop') return { do: 'settle', outcome: 'noop', because };
  if (outcome === 'blocked') return { do: 'settle', outcome: 'failed', because };
  return nextForwardMove(state, now);
}

function beforePlan(state: AttemptState, now: Circumstances): Move {
  if (state.cancel !== null) return { do: 'settle', outcome: 'canceled', because: [canceled(state.cancel)] };
  if (isLate(state, now)) return { do: 'settle', outcome: 'failed', because: [deadlinePassed(state)] };
  return { do: 'plan' };
}

function nextForwardMove(state: AttemptState, now: Circumstances): Move {
  const { forward, verified, confirmed, cancel } = state;
  if (verified) {
    const { ok, because } = verified;
    if (!ok) return { do: 'plan_undo', cause: 'not_verified', because };
    if (!mayCutOff(forward.steps)) return { do: 'settle', outcome: 'succeeded', because };
    if (!confirmed) return { do: 'confirm' };
    if (!confirmed.ok) return { do: 'plan_undo', cause: 'not_confirmed', because: confirmed.because };
    return { do: 'settle', outcome: 'succeeded', because: [...because, ...confirmed.because] };
  }
  // An effect that may be under way is looked at before anything else is decided.
  const open = openStep(forward, 'do');
  if (open) return open;
  if (forward.failures.length > 0) return { do: 'plan_undo', cause: 'step_failed', because: forward.failures };
  const hasBegun = forward.states.size > 0;
  if (cancel !== null && !(hasBegun && now.onCancel === 'finish'))
    return { do: 'plan_undo', cause: 'canceled', because: [canceled(cancel)] };
  if (isLate(state, now)) return { do: 'plan_undo', cause: 'deadline', because: [deadlinePassed(state)] };
  if (!state.snapshots) return { do: 'snapshot' };
  return nextStep(forward, 'do') ?? { do: 'verify' };
}

function nextUndoMove(undo: NonNullable<AttemptState['undo']>, forward: Progress): Move {
  const move = openStep(undo, 'undo') ?? nextStep(undo, 'undo');
  if (move) return move;
  const stays = begunSteps(forward).some(({ step }) => kindOf(step).stays);
  if (stays && undo.steps.length === 0) return { do: 'settle', outcome: 'rollback_failed', because: undo.because };
  if (undo.failures.length > 0)
    return { do: 'settle', outcome: 'rollback_failed', because: [...undo.because, ...undo.failures] };
  if (undo.cause === 'canceled') return { do: 'settle', outcome: 'canceled', because: undo.because };
  const touched = undo.steps.length > 0;
  return { do: 'settle', outcome: touched ? 'rolled_back' : 'failed', because: undo.because };
}

function openStep(progress: Progress, lane: Lane): Move | null {
  for (const [index, state] of progress.states) {
    const step = progress.steps[index];
    if (state === 'begun' && step) return { do: 'probe_step', lane, index, step, before: progress.before.get(index) };
  }
  return null;
}

/** A failed step back does not stop the others: what can be put back is. */
function nextStep(progress: Progress, lane: Lane): Move | null {
  const index = progress.steps.findIndex((_, candidate) => !progress.states.has(candidate));
  const step = progress.steps[index];
  return step ? { do: 'run_step', lane, index, step } : null;
}

function isLate(state: AttemptState, now: Circumstances): boolean {
  return now.elapsedMs > state.granted.deadlineMs;
}

function deadlinePassed(state: AttemptState): PlanReason {
  return {
    because: 'deadline',
    detail: `not done within ${Math.round(state.granted.deadlineMs / 1_000)} s of the grant`,
  };
}

function canceled(because: string): PlanReason {
  return { because: 'canceled', detail: because };
}

/** Where an attempt is, for heartbeats and reports. */
export function phaseOf(state: AttemptState): AttemptPhase {
  if (state.settled) return 'confirming';
  if (state.undo || state.forward.failures.length > 0) return 'rolling_back';
  if (state.verified?.ok) return 'confirming';
  if (!state.planned) return 'prechecking';
  if (!state.snapshots) return 'snapshotting';
  const begun = begunSteps(state.forward).at(-1);
  if (begun && state.forward.states.get(begun.index) === 'begun') return kindOf(begun.step).phase;
  return state.forward.steps.length > state.forward.states.size ? 'applying' : 'verifying';
}
