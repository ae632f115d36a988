import { z } from 'zod';
import { UnitState } from '../fact.ts';

export const UnitsFact = z.object({
  /** The units of the fixed list that systemd knows; one that is not installed is not here. */
  units: z.array(UnitState),
  /** Of these, the ones whose last run failed. */
  failedNames: z.array(z.string()),
});
export type UnitsFact = z.infer<typeof UnitsFact>;
