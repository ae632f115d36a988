import { z } from 'zod';

export const ReachabilityFact = z.object({
  /** What jobs need: NVIDIA's repositories, as this host names them. */
  targets: z.array(
    z.object({
      url: z.string(),
      /** HTTP status of the answer; any means that the server can be reached. null: see `error`. */
      status: z.int().nullable(),
      /** Why there was no answer; with a status: why its certificate is not accepted on this host. */
      error: z.string().nullable(),
      /** The server's Date header. */
      dateMs: z.number().nullable(),
      /** This host's clock less the server's when it answered; positive: ahead. */
      offsetMs: z.number().nullable(),
    }),
  ),
});
export type ReachabilityFact = z.infer<typeof ReachabilityFact>;
