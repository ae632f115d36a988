import { z } from 'zod';

export const TimeSyncFact = z.object({
  /** The kernel's clock is disciplined, by whatever service. */
  synchronised: z.boolean().nullable(),
  /** The service that runs to do it; null: none of the known ones does. */
  service: z.string().nullable(),
  /** This clock less that of a web server (its Date header), as of the last time one was asked; positive: ahead. */
  offsetMs: z.number().nullable(),
  rtcPresent: z.boolean().nullable(),
});
export type TimeSyncFact = z.infer<typeof TimeSyncFact>;
