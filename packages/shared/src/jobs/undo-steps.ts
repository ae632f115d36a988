import type { StepSnapshot } from './attempt/journal.ts';
import { changesFile } from './describe-step.ts';
import { kindOf, type Step } from './step.ts';
import type { Was } from './steps/step-kind.ts';

/** A step whose effect is there or may be there, with what was read before it. */
export interface BegunStep {
  index: number;
  step: Step;
  before: unknown;
}

type Kept = Pick<StepSnapshot, 'step'> & NonNullable<Was['kept']>;

/**
 * The inverses of `begun` (in the order in which they were begun), last first. What makes files be read anew is done
 * once more when they are back, and before anything that was held off is let go: a node takes pods again when its
 * engine runs.
 */
export function undoSteps(begun: readonly BegunStep[], snapshots: readonly Kept[]): Step[] {
  const changesFiles = begun.some(({ step }) => changesFile(step) || kindOf(step).leavesFile?.(step));
  const back: Step[] = [];
  let again: Step[] = [];
  for (const { index, step, before } of [...begun].reverse()) {
    const kind = kindOf(step);
    if (kind.again) {
      const once = kind.again(step, changesFiles);
      // Of several restarts of one unit, the one that came first going forward counts.
      if (once) again = [once, ...again.filter((other) => !isSame(other, once))];
      continue;
    }
    // Without a snapshot no file was written: it is taken before any effect.
    const inverse = kind.inverse(step, { before, kept: snapshots.find((snapshot) => snapshot.step === index) });
    if (kind.suspends) {
      back.push(...again);
      again = [];
    }
    back.push(...inverse);
  }
  return [...back, ...again];
}

function isSame(a: Step, b: Step): boolean {
  return a.do === b.do && kindOf(a).subject(a) === kindOf(b).subject(b);
}
