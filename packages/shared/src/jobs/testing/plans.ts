import type { KeyEdit, Plan } from '../step.ts';

/** A plan in short: its steps with what they are about, or its outcome and why. */
export function doing(given: Plan): string[] {
  if (given.outcome !== 'plan') return [given.outcome, ...given.because.map(({ because }) => because)];
  return given.steps.map((step) =>
    'path' in step ? `${step.do} ${step.path}` : 'unit' in step ? `${step.do} ${step.unit}` : step.do,
  );
}

export function editsOf(given: Plan, path?: string): KeyEdit[] {
  if (given.outcome !== 'plan') return [];
  return given.steps.flatMap((step) =>
    step.do === 'edit_file' && (path ?? step.path) === step.path ? step.edits : [],
  );
}
