import { FindingQuery, HostFinding, pageOf } from '@gpufleet/shared/api';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { listFindings } from './list-findings.ts';

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
}
