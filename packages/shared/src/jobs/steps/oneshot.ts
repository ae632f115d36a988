import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

/** A unit that does its work and ends: running it again makes what it makes anew. */
export const RunUnit = z.object({ do: z.literal('run_unit'), unit: z.string(), timeoutMs: z.int() });
export type RunUnit = z.infer<typeof RunUnit>;

export const oneshotSteps: { run_unit: StepKind<RunUnit> } = {
  run_unit: {
    ...quiet,
    subject: ({ unit }) => unit,
    phase: 'restarting',
    inverse: () => [],
    // What it made told of the state that is taken back.
    again: (step) => step,
  },
};
