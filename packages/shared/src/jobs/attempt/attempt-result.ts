import type { AttemptOutcome, AttemptResult } from '../../protocol/attempt-report.ts';
import { stepTitle } from '../describe-step.ts';
import type { PlanReason } from '../step.ts';
import type { AttemptState } from './attempt-state.ts';

type StepReport = AttemptResult['steps'][number];

/** The result, made of nothing but the journal. */
export function toResult(
  state: AttemptState,
  settled: { outcome: AttemptOutcome; because: PlanReason[]; nowMs: number },
): AttemptResult {
  return {
    attemptId: state.granted.attemptId,
    outcome: settled.outcome,
    because: settled.because,
    planHash: state.planned?.planHash ?? null,
    diffs: (state.snapshots ?? []).filter(({ diff }) => diff !== '').map(({ path, diff }) => ({ path, diff })),
    steps: [...forwardSteps(state), ...failedStepsBack(state)],
    startedAtMs: state.granted.at.nowMs,
    settledAtMs: settled.nowMs,
  };
}

function forwardSteps(state: AttemptState): StepReport[] {
  const undone = state.undo !== null;
  const undoFailed = (state.undo?.failures.length ?? 0) > 0;
  return state.forward.steps.map((step, index) => {
    const reached = state.forward.states.get(index);
    const title = stepTitle(step);
    if (reached === undefined) return { title, state: 'not_started' };
    if (isFailed(reached)) return { title, state: 'failed' };
    if (!undone) return { title, state: 'done' };
    return { title, state: undoFailed ? 'undo_failed' : 'undone' };
  });
}

/** Steps back are told where they failed: a person has to go on from there. */
function failedStepsBack(state: AttemptState): StepReport[] {
  return (state.undo?.steps ?? []).flatMap((step, index): StepReport[] =>
    isFailed(state.undo?.states.get(index)) ? [{ title: stepTitle(step), state: 'undo_failed' }] : [],
  );
}

function isFailed(reached: string | undefined): boolean {
  return reached === 'failed' || reached === 'refused';
}
