import { FleetError } from '@gpufleet/shared/core';
import { eq } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { type By, requireVersion } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { hostTable } from '../hosts/table.ts';
import { enrollmentTokenTable } from '../tokens/table.ts';
import { getSiteRow } from './site-store.ts';
import { siteTable } from './table.ts';

/** Refused while any host, decommissioned ones too, still names the site. Its enrolment tokens go with it. */
export async function deleteSite(
  tx: Db,
  nowMs: number,
  id: string,
  ifVersion: number | undefined,
  by: By,
): Promise<void> {
  const before = await getSiteRow(tx, id);
  requireVersion(before.version, ifVersion);
  const hosts = await tx.$count(hostTable, eq(hostTable.siteId, id));
  if (hosts > 0)
    throw new FleetError('site_has_hosts', `site ${id} still has ${hosts} host(s): move or remove them first`, {
      hosts,
    });
  await tx.delete(enrollmentTokenTable).where(eq(enrollmentTokenTable.siteId, id));
  await tx.delete(siteTable).where(eq(siteTable.id, id));
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'site.delete', target: `site:${id}`, before });
  await recordEvent(tx, { atMs: nowMs, type: 'site.deleted', siteId: id });
}
