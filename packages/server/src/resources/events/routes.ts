import { Id, SiteId } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';

const EventQuery = z.strictObject({
  site: SiteId.optional(),
  host: Id.optional(),
  rollout: Id.optional(),
  type: z.string().max(64).optional(),
  /** For clients that cannot set the Last-Event-ID header. */
  lastEventId: z.coerce.number().int().min(0).optional(),
});

export function eventRoutes(app: App, deps: AppDeps): void {
  route(app, {
    method: 'GET',
    url: '/events',
    role: 'viewer',
    summary: 'Server-Sent Events of what changes; Last-Event-ID resumes',
    query: EventQuery,
    reply: z.unknown(),
    handle: async ({ query, request, reply }) => {
      const { lastEventId, ...filter } = query;
      const afterId = lastEventIdOf(request.headers['last-event-id']) ?? lastEventId;
      if (deps.eventStream.isFull())
        throw new FleetError('too_many_listeners', 'too many event streams are open: close one, or poll the lists');
      const isAllowed = async () => (await request.actor?.isLive()) ?? false;
      reply.hijack();
      await deps.eventStream.listen(reply.raw, { filter, afterId, isAllowed });
      return undefined;
    },
  });
}

function lastEventIdOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw new FleetError('bad_request', 'Last-Event-ID must be the id of an event of this server');
}
