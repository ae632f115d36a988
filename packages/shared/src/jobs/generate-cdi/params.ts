import { z } from 'zod';
import { CdiGenerator } from '../steps/files.ts';

const { mode, deviceNameStrategies, featureFlags } = CdiGenerator;

export const GenerateCdiParams = z
  .strictObject({
    /** Absent: where the specification is now, else where it lasts. */
    path: z
      .string()
      .max(512)
      .regex(
        /^\/[^\0\n]*\/[^/\0\n]+\.(?:yaml|json)$/,
        'a specification is an absolute path that ends in .yaml or .json',
      )
      .optional(),
    mode,
    deviceNameStrategies,
    featureFlags,
    /** Removes other specifications that would hide the new one, or collide with it. */
    replaceOthers: z.boolean().default(false),
  })
  .refine(({ path }) => !path?.split('/').includes('..'), { message: 'a path has no ..' });
export type GenerateCdiParams = z.infer<typeof GenerateCdiParams>;
