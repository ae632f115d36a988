import type { AttemptOutcome } from '../protocol/attempt-report.ts';

/**
 * What a settled slot must be by the last result of each of its jobs, in order; undefined: they settle nothing. Written
 * apart from `foldResult` on purpose: it checks it.
 */
export function recountSlot(
  outcomes: readonly (AttemptOutcome | null)[],
): 'succeeded' | 'noop' | 'failed' | 'rolled_back' | 'rollback_failed' | undefined {
  let didSomething = false;
  for (const outcome of outcomes) {
    if (outcome === null || outcome === 'canceled') return undefined;
    if (outcome === 'failed' || outcome === 'rolled_back' || outcome === 'rollback_failed') return outcome;
    didSomething ||= outcome === 'succeeded';
  }
  if (outcomes.length === 0) return undefined;
  return didSomething ? 'succeeded' : 'noop';
}
