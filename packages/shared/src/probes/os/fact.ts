import { z } from 'zod';

export const OsFact = z.object({
  /** `ID` of /etc/os-release: debian, ubuntu, rhel … */
  id: z.string().nullable(),
  versionId: z.string().nullable(),
  prettyName: z.string().nullable(),
  hostname: z.string().nullable(),
  /** /proc/sys/kernel/osrelease */
  kernel: z.string().nullable(),
  /** Machine name as `uname -m` prints it: x86_64, aarch64. */
  arch: z.string().nullable(),
  memoryTotalMiB: z.number().nullable(),
  cpuCount: z.int().nullable(),
  /** The agent itself runs inside a container. */
  insideContainer: z.boolean(),
});
export type OsFact = z.infer<typeof OsFact>;
