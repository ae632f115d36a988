import { z } from 'zod';

export const PowerMode = z.object({
  id: z.int(),
  name: z.string(),
  /** Which parts of the GPU it takes the power from, as the table words it; absent: it says nothing of that. */
  gating: z.string().optional(),
});
export type PowerMode = z.infer<typeof PowerMode>;

export const JetsonFact = z.object({
  isTegra: z.boolean(),
  /** /proc/device-tree/model */
  model: z.string().nullable(),
  /** Newest of the compatible list: tegra264, tegra234, tegra194 … */
  soc: z.string().nullable(),
  /** L4T version as major.minor.patch, e.g. 36.4.7. */
  l4t: z.string().nullable(),
  /** What says so: its own file, a package of that name, or the list of packages read as a file. Absent: not told yet. */
  l4tFrom: z.enum(['release_file', 'package', 'package_list']).nullable().optional(),
  /** JetPack that this L4T belongs to, from the published table; null when not in it. */
  jetpack: z.string().nullable(),
  /** /etc/nv_tegra_release is there; images of board makers can lack it, and csv mode of the toolkit looks for it. */
  hasReleaseFile: z.boolean(),
  /** Version of the package nvidia-jetpack; null: it is not installed (the parts may be, without it). */
  jetpackPackage: z.string().nullable(),
  /** The mode that nvpmodel set last; its name is of this board's own table. */
  powerMode: z.object({ id: z.int(), name: z.string().nullable() }).nullable(),
  /** The mode that the board is in, as `nvpmodel -q` says; null or absent: it was not asked, or did not say. */
  livePowerMode: z.object({ id: z.int(), name: z.string().nullable() }).nullable().optional(),
  powerModes: z.array(PowerMode),
  /** Names of the lists of files that csv mode mounts; null: their folder is not there. */
  csvFiles: z.array(z.string()).nullable(),
  /** The running kernel has the module iptable_raw: loaded, built in or on disk. Docker 28 and later wants it. */
  hasRawTable: z.boolean().nullable(),
  /** File that tells docker to do without the raw table, or without iptables; null: none does. */
  rawTableSkippedBy: z.string().nullable(),
});
export type JetsonFact = z.infer<typeof JetsonFact>;
