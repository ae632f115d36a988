import { FindingQuery, FindingStory, HostFinding, Id, pageOf } from '@gpufleet/shared/api';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { getFindingStory, listFindings } from './list-findings.ts';

export function findingRoutes(app: App, deps: AppDeps): void {
  route(app, {
    method: 'GET',
    url: '/findings',
    role: 'viewer',
    summary: 'Lists findings of all hosts',
    query: FindingQuery,
    reply: pageOf(HostFinding),
    handle: ({ query }) => listFindings(deps.db.read, query),
  });
  route(app, {
    method: 'GET',
    url: '/findings/:id',
    role: 'viewer',
    summary: 'A finding over time: when it opened, cleared and came back',
    params: z.strictObject({ id: Id }),
    reply: FindingStory,
    handle: ({ params }) => getFindingStory(deps.db.read, params.id),
  });
}
