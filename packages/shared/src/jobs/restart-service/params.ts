import { z } from 'zod';
import { serviceUnits } from '../plan-parts.ts';

export const RestartServiceParams = z.strictObject({
  unit: z.enum(serviceUnits),
  action: z.enum(['restart', 'start', 'enable']).default('restart'),
  /**
   * Host time: a unit that started later than this is not restarted again. With it a restart can be asked for whatever
   * the files say (the moment of asking), or for a change that the facts do not show (that change's time).
   */
  unlessStartedAfterMs: z.number().min(0).optional(),
  /** Take the pods off this node of a cluster before its engine restarts, and let them come back after. */
  drain: z.boolean().default(false),
});
export type RestartServiceParams = z.infer<typeof RestartServiceParams>;
