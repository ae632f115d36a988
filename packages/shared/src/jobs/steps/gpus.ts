import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

export const ResetGpu = z.object({
  do: z.literal('reset_gpu'),
  /** GPUs that are linked directly are reset together. */
  gpuUuids: z.array(z.string()).min(1),
  /** `mig_pending`: nothing is done where the mode does not wait for it (any more). */
  when: z.enum(['always', 'mig_pending']),
});
export type ResetGpu = z.infer<typeof ResetGpu>;

export const WaitUntilIdle = z.object({
  do: z.literal('wait_until_idle'),
  gpuUuid: z.string(),
  /** Units that may keep it open. */
  except: z.array(z.string()),
  timeoutMs: z.int(),
});
export type WaitUntilIdle = z.infer<typeof WaitUntilIdle>;

export const gpuSteps: { reset_gpu: StepKind<ResetGpu>; wait_until_idle: StepKind<WaitUntilIdle> } = {
  reset_gpu: {
    ...quiet,
    subject: ({ gpuUuids }) => gpuUuids.join(', '),
    disruption: () => 'resets_gpu',
    downtimeMs: () => 15_000,
    inverse: () => [],
  },
  wait_until_idle: { ...quiet, subject: ({ gpuUuid }) => gpuUuid, phase: 'draining', inverse: () => [] },
};
