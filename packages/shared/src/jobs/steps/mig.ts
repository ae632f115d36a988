import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

const MigMode = z.enum(['enabled', 'disabled']);

export const SetMigMode = z.object({
  do: z.literal('set_mig_mode'),
  gpuUuid: z.string(),
  from: MigMode,
  to: MigMode,
  /** A mode that waits for a reset is good enough: the step that resets follows. */
  mayPend: z.boolean().optional(),
});
export type SetMigMode = z.infer<typeof SetMigMode>;

/** A GPU instance with what it is divided into, without the ids that the driver gives. */
export const MigInstance = z.object({
  profile: z.string(),
  profileId: z.int(),
  /** First slice of memory. */
  start: z.int(),
  /** Ids of the profiles of its compute instances; null: one, of all that it has. */
  computes: z.array(z.int()).nullable(),
});
export type MigInstance = z.infer<typeof MigInstance>;

/** All instances of one GPU. What is right already stays, with those who use it. */
export const SetMigInstances = z.object({
  do: z.literal('set_mig_instances'),
  gpuUuid: z.string(),
  from: z.array(MigInstance),
  to: z.array(MigInstance),
  /** Refused where the GPU is not as `from` says. The way back takes what a failed step left. */
  mustFind: z.boolean(),
});
export type SetMigInstances = z.infer<typeof SetMigInstances>;

export const migSteps: {
  set_mig_mode: StepKind<SetMigMode>;
  set_mig_instances: StepKind<SetMigInstances>;
} = {
  set_mig_mode: {
    ...quiet,
    subject: ({ gpuUuid, to }) => `${gpuUuid} ${to}`,
    disruption: () => 'resets_gpu',
    downtimeMs: () => 10_000,
    // A mode that was put back may wait for its reset as well, and instances can be made only after it.
    inverse: (step) => [
      { ...step, from: step.to, to: step.from },
      ...(step.mayPend ? [{ do: 'reset_gpu' as const, gpuUuids: [step.gpuUuid], when: 'mig_pending' as const }] : []),
    ],
  },
  set_mig_instances: {
    ...quiet,
    subject: ({ gpuUuid, to }) => `${gpuUuid} ${layoutText(to)}`,
    disruption: () => 'resets_gpu',
    downtimeMs: () => 10_000,
    inverse: (step) => [{ ...step, from: step.to, to: step.from, mustFind: false }],
  },
};

/** `3g.20gb 2×1g.5gb` */
export function layoutText(instances: readonly Pick<MigInstance, 'profile'>[]): string {
  const counts = new Map<string, number>();
  for (const { profile } of instances) counts.set(profile, (counts.get(profile) ?? 0) + 1);
  const parts = [...counts].map(([profile, count]) => (count === 1 ? profile : `${count}×${profile}`));
  return parts.join(' ') || 'without instances';
}
