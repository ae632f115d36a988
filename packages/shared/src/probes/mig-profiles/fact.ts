import { z } from 'zod';

export const MigProfileOffer = z.object({
  /** `1g.5gb`, `1g.10gb+me` … */
  name: z.string(),
  /** The same id means another size on another GPU. */
  id: z.int(),
  /** How many more fit beside the instances that are there; 0 while MIG is off. */
  freeInstances: z.int(),
  totalInstances: z.int(),
  memoryGiB: z.number().nullable(),
  /** Where instances of it may begin and how many memory slices each takes; null: not told. */
  placements: z.object({ starts: z.array(z.int()), size: z.int() }).nullable(),
});

export const MigComputeInstance = z.object({ id: z.int(), profile: z.string(), profileId: z.int() });

export const MigGpuInstance = z.object({
  id: z.int(),
  profile: z.string(),
  profileId: z.int(),
  start: z.int(),
  size: z.int(),
  /** null: not told. Without one, no container can use the instance. */
  computeInstances: z.array(MigComputeInstance).nullable(),
});

/** What MIG offers on each GPU that is capable of it, and what was made of it. */
export const MigProfilesFact = z.object({
  gpus: z.array(
    z.object({
      /** As in the fact `gpus`. */
      index: z.int(),
      /** null: the driver does not say (before 550 it says nothing while MIG is off). */
      profiles: z.array(MigProfileOffer).nullable(),
      /** null: not told. */
      gpuInstances: z.array(MigGpuInstance).nullable(),
    }),
  ),
});
export type MigProfilesFact = z.infer<typeof MigProfilesFact>;
