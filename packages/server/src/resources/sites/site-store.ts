import { FleetError } from '@gpufleet/shared/core';
import { eq, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { siteTable } from './table.ts';

export type SiteRow = typeof siteTable.$inferSelect;

export async function findSiteRow(db: Db, id: string): Promise<SiteRow | undefined> {
  const byId = prepared(db, 'sites.by_id', (on) =>
    on
      .select()
      .from(siteTable)
      .where(eq(siteTable.id, sql.placeholder('id')))
      .prepare(),
  );
  return (await byId.execute({ id }))[0];
}

export async function getSiteRow(db: Db, id: string): Promise<SiteRow> {
  const site = await findSiteRow(db, id);
  if (!site) throw new FleetError('site_not_found', `there is no site ${id}`, { siteId: id });
  return site;
}

/** Every site, for planning. */
export async function listSiteRows(db: Db): Promise<SiteRow[]> {
  return db.select().from(siteTable).orderBy(siteTable.id);
}
