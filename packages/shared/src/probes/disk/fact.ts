import { z } from 'zod';

export const DiskFact = z.object({
  /** Local file systems; those of the network, of memory and of containers are not asked. */
  mounts: z.array(
    z.object({
      path: z.string(),
      device: z.string(),
      fsType: z.string(),
      sizeBytes: z.number().nullable(),
      /** To those who are not root. */
      availableBytes: z.number().nullable(),
      /** null: this file system makes them as they are needed. */
      inodes: z.number().nullable(),
      inodesAvailable: z.number().nullable(),
    }),
  ),
  /** Where the engines of this host and the agent keep their data, and the file system that it is on. */
  dataRoots: z.array(
    z.object({
      of: z.enum(['docker', 'containerd', 'k3s', 'rke2', 'microk8s', 'crio', 'kubelet', 'agent']),
      path: z.string(),
      /** `path` of one of `mounts`; null: it is on none of them. */
      mount: z.string().nullable(),
    }),
  ),
});
export type DiskFact = z.infer<typeof DiskFact>;
