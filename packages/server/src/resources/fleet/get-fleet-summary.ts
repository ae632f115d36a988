import { type FleetQuery, type FleetSummary, Variant } from '@gpufleet/shared/api';
import { and, count, countDistinct, desc, eq, gt, type SQL } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { hostCondition, isThere } from '../../http/host-condition.ts';
import { countFleetFindings, countHostsByCode } from '../findings/index.ts';
import { unknownClass } from '../hosts/index.ts';
import { hostTable, hostTraitTable } from '../hosts/table.ts';

const maxVariants = 500;
const chunk = 5_000;

export async function getFleetSummary(
  db: Db,
  gateway: Pick<Gateway, 'isOnline'>,
  query: FleetQuery,
): Promise<FleetSummary> {
  const ofHosts = and(isThere, hostCondition(db, query));
  const variants = await countVariants(db, ofHosts);
  return {
    hosts: {
      total: await db.$count(hostTable, ofHosts),
      online: await countOnline(db, gateway, ofHosts),
      byStatus: await countByStatus(db, ofHosts),
    },
    variants: variants.slice(0, maxVariants),
    moreVariants: Math.max(0, variants.length - maxVariants),
    traits: await countTraits(db, ofHosts),
    findings: { bySeverity: await countFleetFindings(db, ofHosts), byCode: await countHostsByCode(db, ofHosts) },
  };
}

async function countVariants(db: Db, ofHosts: SQL | undefined): Promise<FleetSummary['variants']> {
  const rows = await db
    .select({ variant: hostTable.variant, hosts: count(), sites: countDistinct(hostTable.siteId) })
    .from(hostTable)
    .where(ofHosts)
    .groupBy(hostTable.variant)
    .orderBy(desc(count()), hostTable.variant);
  return rows.map(({ variant, ...counts }) => ({ variant: readVariant(variant), ...counts }));
}

/** Of a host without facts nothing is known. */
function readVariant(text: string): Variant {
  return Variant.parse(text === '' ? unknownClass : JSON.parse(text));
}

async function countByStatus(db: Db, ofHosts: SQL | undefined): Promise<FleetSummary['hosts']['byStatus']> {
  const rows = await db
    .select({ status: hostTable.status, hosts: count() })
    .from(hostTable)
    .where(ofHosts)
    .groupBy(hostTable.status);
  return Object.fromEntries(rows.map(({ status, hosts }) => [status, hosts]));
}

async function countTraits(db: Db, ofHosts: SQL | undefined): Promise<FleetSummary['traits']> {
  const rows = await db
    .select({ key: hostTraitTable.key, value: hostTraitTable.value, hosts: count() })
    .from(hostTraitTable)
    .innerJoin(hostTable, eq(hostTable.id, hostTraitTable.hostId))
    .where(ofHosts)
    .groupBy(hostTraitTable.key, hostTraitTable.value)
    .orderBy(hostTraitTable.key, desc(count()), hostTraitTable.value);
  const traits: FleetSummary['traits'] = {};
  for (const { key, value, hosts } of rows) traits[key] = [...(traits[key] ?? []), { value, hosts }];
  return traits;
}

/** Liveness is in memory only: ids are read in chunks, other work let in between. */
async function countOnline(db: Db, gateway: Pick<Gateway, 'isOnline'>, ofHosts: SQL | undefined): Promise<number> {
  let online = 0;
  for (let after = ''; ; ) {
    const rows = await db
      .select({ id: hostTable.id })
      .from(hostTable)
      .where(and(ofHosts, gt(hostTable.id, after)))
      .orderBy(hostTable.id)
      .limit(chunk);
    online += rows.filter(({ id }) => gateway.isOnline(id)).length;
    const last = rows.at(-1);
    if (!last || rows.length < chunk) return online;
    after = last.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
