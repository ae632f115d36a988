import { AuditEntry, pageOf } from '@gpufleet/shared/api';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { AuditQuery, listAudit } from './list-audit.ts';

export function auditRoutes(app: App, deps: AppDeps): void {
  route(app, {
    method: 'GET',
    url: '/audit',
    role: 'admin',
    summary: 'Who changed what, newest first',
    query: AuditQuery,
    reply: pageOf(AuditEntry),
    handle: ({ query }) => listAudit(deps.db.read, query),
  });
}
