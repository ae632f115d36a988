import { z } from 'zod';

const AbsolutePath = z
  .string()
  .max(512)
  .regex(/^\/[^\0\n]*$/, 'a path is absolute');

export const ConfigureRuntimeParams = z.strictObject({
  runtime: z.enum(['docker', 'containerd', 'crio', 'k3s', 'rke2', 'microk8s']),
  configPath: AbsolutePath.optional(),
  dropInPath: AbsolutePath.optional(),
  runtimeName: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'a runtime name is 1–63 small letters, digits, . _ -')
    .default('nvidia'),
  runtimePath: z
    .string()
    .min(1)
    .max(512)
    .regex(/^[^\0\n]+$/)
    .optional(),
  /** Absent: the default runtime stays what it is. */
  setAsDefault: z.boolean().optional(),
  cdi: z.boolean().optional(),
  enableCri: z.boolean().optional(),
});
export type ConfigureRuntimeParams = z.infer<typeof ConfigureRuntimeParams>;
