import { z } from 'zod';

export const GpuHolder = z.object({
  kind: z.enum(['process', 'kernel_module']),
  /** null for a kernel module. */
  pid: z.int().nullable(),
  /** The kernel's name of the process (at most 15 characters), or the module's. */
  name: z.string(),
  /** The program that runs; never its arguments, which can hold secrets. */
  command: z.string().nullable(),
  /** NVIDIA device nodes that it has open. */
  paths: z.array(z.string()),
  /** systemd unit, container and pod it belongs to, as its cgroup says. */
  unit: z.string().nullable(),
  containerId: z.string().nullable(),
  /** The pod's uid. */
  pod: z.string().nullable(),
  /** Of a module: by how much else than other modules it is in use. */
  useCount: z.int().nullable(),
});
export type GpuHolder = z.infer<typeof GpuHolder>;

/** Who keeps the GPUs and the driver in use, so that neither can be reset or unloaded. */
export const GpuHoldersFact = z.object({ holders: z.array(GpuHolder) });
export type GpuHoldersFact = z.infer<typeof GpuHoldersFact>;
