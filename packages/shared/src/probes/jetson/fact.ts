import { z } from 'zod';

export const JetsonFact = z.object({
  isTegra: z.boolean(),
  /** /proc/device-tree/model */
  model: z.string().nullable(),
  /** Newest of the compatible list: tegra264, tegra234, tegra194 … */
  soc: z.string().nullable(),
  /** L4T version as major.minor.patch, e.g. 36.4.7. */
  l4t: z.string().nullable(),
  /** JetPack that this L4T belongs to, from the published table; null when not in it. */
  jetpack: z.string().nullable(),
});
export type JetsonFact = z.infer<typeof JetsonFact>;
