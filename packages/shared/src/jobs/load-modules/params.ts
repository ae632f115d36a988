import { z } from 'zod';

/** In the spelling of /proc/modules. The last three are what the fabric of NVLink 5 is managed through. */
export const loadableModules = [
  'nvidia',
  'nvidia_uvm',
  'nvidia_modeset',
  'nvidia_drm',
  'nvidia_peermem',
  'ib_umad',
  'mlx5_core',
  'mlx5_ib',
] as const;

export const LoadModulesParams = z.strictObject({
  modules: z
    .array(z.enum(loadableModules))
    .min(1)
    .transform((names) => loadableModules.filter((name) => names.includes(name)))
    .default(['nvidia', 'nvidia_uvm']),
  /** Also at every boot, with the links in /dev/char and the daemon that keeps the driver awake. */
  persist: z.boolean().default(true),
});
export type LoadModulesParams = z.infer<typeof LoadModulesParams>;
