import type { CreateSite, Site } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { Db } from '../../db/index.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { checkSiteSettings } from './check-site-settings.ts';
import { toSite } from './list-sites.ts';
import { findSiteRow } from './site-store.ts';
import { siteTable } from './table.ts';

export async function createSite(tx: Db, nowMs: number, request: CreateSite, by: By): Promise<Site> {
  checkSiteSettings(request);
  if (await findSiteRow(tx, request.id)) throw new FleetError('site_exists', `there is a site ${request.id} already`);
  const row = { ...request, createdAtMs: nowMs, version: 1 };
  await tx.insert(siteTable).values(row);
  const site = toSite(row, 0, 0);
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'site.create', target: `site:${site.id}`, after: request });
  await recordEvent(tx, { atMs: nowMs, type: 'site.created', siteId: site.id });
  return site;
}
