import { z } from 'zod';
import { ConfigFile } from '../fact.ts';

export const BootGpu = z.object({
  uuid: z.string(),
  enabled: z.boolean(),
  /** By profile name: ids are the driver's own. `start`: first slice of memory. null: whoever makes them is somebody else. */
  instances: z.array(z.object({ profile: z.string(), start: z.int() })).nullable(),
});
export type BootGpu = z.infer<typeof BootGpu>;

/** What is made again at each boot. */
export const BootLayout = z.object({ format: z.literal(1), gpus: z.array(BootGpu) });
export type BootLayout = z.infer<typeof BootLayout>;

export const MigBootFact = z.object({
  layoutFile: ConfigFile,
  /** null: there is none, or the file is not one (see its `error`). */
  layout: BootLayout.nullable(),
  unitFile: ConfigFile,
  /** The unit is the one that this version writes. */
  unitIsCurrent: z.boolean(),
  /** It is started at boot; null: could not be read. */
  enabled: z.boolean().nullable(),
});
export type MigBootFact = z.infer<typeof MigBootFact>;
