import type { StepSnapshot } from './attempt/journal.ts';
import type { Step } from './step.ts';

/** What of a step's snapshot the way back is made from. */
type Kept = Pick<StepSnapshot, 'step' | 'snapshot' | 'afterSha256' | 'madeFolders'>;

/**
 * The inverses of `begun` (in the order in which they were begun), last first. Restarts come after all else: a unit
 * that was restarted into the new files must be restarted again when the old ones are back.
 */
export function undoSteps(begun: readonly { index: number; step: Step }[], snapshots: readonly Kept[]): Step[] {
  const inverses: Step[] = [];
  const restarts = new Map<string, Step>();
  const changesFiles = begun.some(({ step }) => step.do === 'edit_file' || step.do === 'restore_file');
  for (const { index, step } of [...begun].reverse()) {
    switch (step.do) {
      case 'edit_file':
      case 'restore_file': {
        const kept = snapshots.find((snapshot) => snapshot.step === index);
        // Without a snapshot nothing was written: it is taken before any effect.
        if (kept)
          inverses.push({
            do: 'restore_file',
            path: step.path,
            snapshot: kept.snapshot,
            expectSha256: kept.afterSha256,
            madeFolders: kept.madeFolders,
          });
        break;
      }
      case 'restart_unit':
        // With no file to go back to, all there is to undo is a unit that did not come up.
        restarts.set(step.unit, { ...step, do: changesFiles ? 'restart_unit' : 'start_unit' });
        break;
      case 'start_unit':
        inverses.push({ do: 'stop_unit', unit: step.unit, timeoutMs: step.timeoutMs });
        break;
      case 'stop_unit':
        inverses.push({ do: 'start_unit', unit: step.unit, timeoutMs: step.timeoutMs });
        break;
      case 'enable_unit':
        inverses.push({ do: 'disable_unit', unit: step.unit });
        break;
      case 'disable_unit':
        inverses.push({ do: 'enable_unit', unit: step.unit });
        break;
      case 'set_mig_mode':
        inverses.push({ ...step, from: step.to, to: step.from });
        break;
    }
  }
  return [...inverses, ...restarts.values()];
}
