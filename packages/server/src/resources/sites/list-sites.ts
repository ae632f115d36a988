import type { PageQuery, Site } from '@gpufleet/shared/api';
import { and, gt, inArray, ne } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import { hostTable } from '../hosts/table.ts';
import { getSiteRow, type SiteRow } from './site-store.ts';
import { siteTable } from './table.ts';

export async function listSites(db: Db, gateway: Pick<Gateway, 'isOnline'>, query: PageQuery): Promise<Page<Site>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await db
    .select()
    .from(siteTable)
    .where(after ? gt(siteTable.id, after[0]) : undefined)
    .orderBy(siteTable.id)
    .limit(query.limit + 1);
  return toPage(await withHosts(db, gateway, rows), query.limit, (site) => [site.id]);
}

export async function getSite(db: Db, gateway: Pick<Gateway, 'isOnline'>, id: string): Promise<Site> {
  const row = await getSiteRow(db, id);
  const [site] = await withHosts(db, gateway, [row]);
  return site ?? toSite(row, 0, 0);
}

async function withHosts(db: Db, gateway: Pick<Gateway, 'isOnline'>, rows: readonly SiteRow[]): Promise<Site[]> {
  const siteIds = rows.map((row) => row.id);
  const hosts = await db
    .select({ id: hostTable.id, siteId: hostTable.siteId })
    .from(hostTable)
    .where(and(inArray(hostTable.siteId, siteIds), ne(hostTable.status, 'decommissioned')));
  return rows.map((row) => {
    const here = hosts.filter((host) => host.siteId === row.id);
    return toSite(row, here.length, here.filter((host) => gateway.isOnline(host.id)).length);
  });
}

export function toSite(row: SiteRow, hosts: number, online: number): Site {
  const { id, timezone, displayName, window, freezes, requireApproval, createdAtMs, version } = row;
  return { id, timezone, displayName, window, freezes, requireApproval, hosts, online, createdAtMs, version };
}
