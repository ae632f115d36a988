import type { Moment } from '@gpufleet/shared/api';

/** A moment of a query as milliseconds since 1970. */
export function momentMs(moment: Moment): number {
  return typeof moment === 'number' ? moment : Date.parse(moment);
}
