import { z } from 'zod';

const AbsolutePath = z
  .string()
  .max(512)
  .regex(/^\/[^\0\n]*$/, 'a path is absolute');

/** Each setting that is absent stays as it is. */
export const SetToolkitConfigParams = z
  .strictObject({
    mode: z.enum(['auto', 'legacy', 'cdi', 'csv', 'jit-cdi']).optional(),
    noCgroups: z.boolean().optional(),
    /** `/`: the host's own. */
    driverRoot: AbsolutePath.optional(),
    /** `@`: of the host. Without it the toolkit refuses the program, which would be the image's. */
    ldconfig: z
      .string()
      .max(512)
      .regex(/^@\/[^\0\n]+$/, 'ldconfig is @ and an absolute path of the host')
      .optional(),
    acceptEnvvarWhenUnprivileged: z.boolean().optional(),
    acceptVolumeMounts: z.boolean().optional(),
    /** Of a user with an engine of his own, or of the GPU operator; absent: the system's. */
    configPath: AbsolutePath.optional(),
  })
  .refine(({ configPath: _, ...settings }) => Object.values(settings).some((value) => value !== undefined), {
    message: 'name at least one setting',
  });
export type SetToolkitConfigParams = z.infer<typeof SetToolkitConfigParams>;
