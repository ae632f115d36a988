import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

/** Of docker, by its whole id. */
const container = { id: z.string().regex(/^[0-9a-f]{64}$/), timeoutMs: z.int() };

export const StopContainer = z.object({ do: z.literal('stop_container'), ...container });
export type StopContainer = z.infer<typeof StopContainer>;
export const StartContainer = z.object({ do: z.literal('start_container'), ...container });
export type StartContainer = z.infer<typeof StartContainer>;

const subject = ({ id }: { id: string }) => id.slice(0, 12);

export const containerSteps: {
  stop_container: StepKind<StopContainer>;
  start_container: StepKind<StartContainer>;
} = {
  stop_container: {
    ...quiet,
    subject,
    phase: 'draining',
    disruption: () => 'restarts_containers',
    downtimeMs: () => 10_000,
    suspends: true,
    inverse: (step) => [{ ...step, do: 'start_container' }],
  },
  start_container: { ...quiet, subject, phase: 'restarting', inverse: (step) => [{ ...step, do: 'stop_container' }] },
};
