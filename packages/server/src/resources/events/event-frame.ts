import type { FleetEvent } from '@gpufleet/shared/api';
import type { EventFilter } from '../../http/event-stream.ts';

export function matchesFilter(event: FleetEvent, filter: EventFilter): boolean {
  if (filter.site !== undefined && event.siteId !== filter.site) return false;
  if (filter.host !== undefined && event.hostId !== filter.host) return false;
  if (filter.rollout !== undefined && event.rolloutId !== filter.rollout) return false;
  return filter.type === undefined || event.type === filter.type || event.type.startsWith(`${filter.type}.`);
}

/** One Server-Sent Event. JSON has no line breaks of its own, so one data line is enough. */
export function toFrame(event: FleetEvent): string {
  return `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;
}
