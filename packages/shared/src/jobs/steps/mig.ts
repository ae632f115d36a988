import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

const MigMode = z.enum(['enabled', 'disabled']);

export const SetMigMode = z.object({
  do: z.literal('set_mig_mode'),
  gpuUuid: z.string(),
  pciBusId: z.string(),
  from: MigMode,
  to: MigMode,
});
export type SetMigMode = z.infer<typeof SetMigMode>;

export const migSteps: { set_mig_mode: StepKind<SetMigMode> } = {
  set_mig_mode: {
    ...quiet,
    subject: ({ gpuUuid, to }) => `${gpuUuid} ${to}`,
    disruption: () => 'resets_gpu',
    downtimeMs: () => 10_000,
    inverse: (step) => [{ ...step, from: step.to, to: step.from }],
  },
};
