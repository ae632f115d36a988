import { CreateSite, PageQuery, pageOf, Site, SiteId, UpdateSite } from '@gpufleet/shared/api';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { createSite } from './create-site.ts';
import { deleteSite } from './delete-site.ts';
import { getSite, listSites } from './list-sites.ts';
import { updateSite } from './update-site.ts';

const ById = z.strictObject({ id: SiteId });

export function siteRoutes(app: App, deps: AppDeps): void {
  const { db, clock, gateway } = deps;
  route(app, {
    method: 'GET',
    url: '/sites',
    role: 'viewer',
    summary: 'Lists sites',
    query: PageQuery,
    reply: pageOf(Site),
    handle: ({ query }) => listSites(db.read, gateway, query),
  });
  route(app, {
    method: 'POST',
    url: '/sites',
    role: 'operator',
    summary: 'Makes a site',
    body: CreateSite,
    status: 201,
    reply: Site,
    handle: (call) => call.once((tx) => createSite(tx, clock.nowMs(), call.body, call.by)),
  });
  route(app, {
    method: 'GET',
    url: '/sites/:id',
    role: 'viewer',
    summary: 'Shows a site',
    params: ById,
    reply: Site,
    handle: ({ params }) => getSite(db.read, gateway, params.id),
  });
  route(app, {
    method: 'PATCH',
    url: '/sites/:id',
    role: 'operator',
    summary: 'Changes a site: time zone, window, freezes, approval of new hosts',
    params: ById,
    body: UpdateSite,
    reply: Site,
    handle: async ({ params, body, by, ifVersion }) => {
      await db.write((tx) => updateSite(tx, clock.nowMs(), params.id, body, ifVersion, by));
      return getSite(db.read, gateway, params.id);
    },
  });
  route(app, {
    method: 'DELETE',
    url: '/sites/:id',
    role: 'operator',
    summary: 'Deletes a site without hosts',
    params: ById,
    handle: async ({ params, by, ifVersion }) =>
      db.write((tx) => deleteSite(tx, clock.nowMs(), params.id, ifVersion, by)),
  });
}
