import type { UpdateSite } from '@gpufleet/shared/api';
import { eq } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { type By, requireVersion } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { checkSiteSettings } from './check-site-settings.ts';
import { getSiteRow } from './site-store.ts';
import { siteTable } from './table.ts';

export async function updateSite(
  tx: Db,
  nowMs: number,
  id: string,
  change: UpdateSite,
  ifVersion: number | undefined,
  by: By,
): Promise<void> {
  checkSiteSettings(change);
  const before = await getSiteRow(tx, id);
  requireVersion(before.version, ifVersion);
  // Only what the caller named: an absent key must not become NULL.
  const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  await tx
    .update(siteTable)
    .set({ ...set, version: before.version + 1 })
    .where(eq(siteTable.id, id));
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'site.update', target: `site:${id}`, before, after: set });
  await recordEvent(tx, { atMs: nowMs, type: 'site.changed', siteId: id, data: { changed: Object.keys(set) } });
}
