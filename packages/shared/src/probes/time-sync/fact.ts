import { z } from 'zod';

export const TimeSyncFact = z.object({
  /** The kernel's clock is disciplined, by whatever service. */
  synchronised: z.boolean().nullable(),
  /** Which question of timedatectl was answered, and its line of the answer; null: none was. */
  saidBy: z
    .object({ command: z.enum(['show', 'status']), line: z.string() })
    .nullable()
    .optional(),
  /** The service that runs to do it; null: none of the known ones does. */
  service: z.string().nullable(),
  /** This clock less that of a web server (its Date header), as of the last time one was asked; positive: ahead. */
  offsetMs: z.number().nullable(),
  rtcPresent: z.boolean().nullable(),
});
export type TimeSyncFact = z.infer<typeof TimeSyncFact>;
