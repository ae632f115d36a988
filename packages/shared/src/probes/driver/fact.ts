import { z } from 'zod';

export const DriverFact = z.object({
  /** /proc/modules names nvidia, nvidia_uvm, nouveau, nvgpu … those that matter. */
  modules: z.array(z.string()),
  /** Version of the loaded module: /proc/driver/nvidia/version. */
  loadedVersion: z.string().nullable(),
  flavour: z.enum(['open', 'proprietary', 'nvgpu']).nullable(),
  /**
   * `modinfo -F version nvidia` for the running kernel: what the next load would bring. null and not in `partial`:
   * there is no such module for this kernel.
   */
  onDiskVersion: z.string().nullable(),
  /** From the file name that libnvidia-ml.so.1 leads to. */
  libraryVersion: z.string().nullable(),
  /** Where that library is, or null. */
  libraryPath: z.string().nullable(),
  /** nvidia-smi is on the host. */
  hasNvidiaSmi: z.boolean(),
});
export type DriverFact = z.infer<typeof DriverFact>;
