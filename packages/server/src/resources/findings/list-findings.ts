import type { FindingQuery, FindingStory, HostFinding } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { Severity, severities } from '@gpufleet/shared/diagnosis';
import { and, count, countDistinct, eq, gt, inArray, isNotNull, isNull, type SQL } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import { hostCondition } from '../../http/host-condition.ts';
import { hostTable } from '../hosts/table.ts';
import { findingTable } from './table.ts';

/** By id, which is stable while findings come and go. */
export async function listFindings(db: Db, query: FindingQuery): Promise<Page<HostFinding>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await selectFindings(db)
    .where(
      and(
        query.state === 'open' ? isNull(findingTable.clearedAtMs) : undefined,
        query.state === 'cleared' ? isNotNull(findingTable.clearedAtMs) : undefined,
        hostCondition(db, query),
        query.code ? eq(findingTable.code, query.code) : undefined,
        query.severity ? inArray(findingTable.severity, query.severity) : undefined,
        query.layer ? eq(findingTable.layer, query.layer) : undefined,
        query.host ? eq(findingTable.hostId, query.host) : undefined,
        after ? gt(findingTable.id, after[0]) : undefined,
      ),
    )
    .orderBy(findingTable.id)
    .limit(query.limit + 1);
  return toPage(rows.map(toHostFinding), query.limit, (item) => [item.id]);
}

export async function getFindingStory(db: Db, id: string): Promise<FindingStory> {
  const [row] = await selectFindings(db).where(eq(findingTable.id, id));
  if (!row) throw new FleetError('finding_not_found', `there is no finding ${id}`, { findingId: id });
  return { ...toHostFinding(row), turns: row.finding.turns };
}

function selectFindings(db: Db) {
  return db
    .select({ finding: findingTable, hostName: hostTable.name, siteId: hostTable.siteId })
    .from(findingTable)
    .innerJoin(hostTable, eq(hostTable.id, findingTable.hostId));
}

type FindingRow = Awaited<ReturnType<typeof selectFindings>>[number];

function toHostFinding({ finding, hostName, siteId }: FindingRow): HostFinding {
  const { id, hostId, firstSeenAtMs, lastSeenAtMs, openedAtMs, clearedAtMs, openedCount } = finding;
  const when = { firstSeenAtMs, lastSeenAtMs, openedAtMs, clearedAtMs, openedCount };
  return { ...finding.body, id, hostId, hostName, siteId, ...when };
}

export type SeverityCounts = Record<Severity, number>;

/** Open findings by host and severity; a host without any is missing. */
export async function countOpenFindings(db: Db, hostIds: readonly string[]): Promise<Map<string, SeverityCounts>> {
  const rows = await db
    .select({ hostId: findingTable.hostId, severity: findingTable.severity, n: count() })
    .from(findingTable)
    .where(and(inArray(findingTable.hostId, [...hostIds]), isNull(findingTable.clearedAtMs)))
    .groupBy(findingTable.hostId, findingTable.severity);
  const byHost = new Map<string, SeverityCounts>();
  for (const { hostId, severity, n } of rows)
    byHost.set(hostId, { ...(byHost.get(hostId) ?? noFindings()), [severity]: n });
  return byHost;
}

/** Open findings by severity, of the hosts that meet the condition. */
export async function countFleetFindings(db: Db, ofHosts?: SQL): Promise<SeverityCounts> {
  const rows = await db
    .select({ severity: findingTable.severity, n: count() })
    .from(findingTable)
    .where(and(isNull(findingTable.clearedAtMs), ofHosts ? isOfHosts(db, ofHosts) : undefined))
    .groupBy(findingTable.severity);
  return Object.assign(noFindings(), Object.fromEntries(rows.map(({ severity, n }) => [severity, n])));
}

/** Hosts with an open finding, by its code, the most frequent first. */
export async function countHostsByCode(
  db: Db,
  ofHosts?: SQL,
): Promise<{ code: string; severity: Severity; hosts: number }[]> {
  const rows = await db
    .select({ code: findingTable.code, severity: findingTable.severity, hosts: countDistinct(findingTable.hostId) })
    .from(findingTable)
    .where(and(isNull(findingTable.clearedAtMs), ofHosts ? isOfHosts(db, ofHosts) : undefined))
    .groupBy(findingTable.code, findingTable.severity);
  return rows.sort((a, b) => b.hosts - a.hosts || (a.code < b.code ? -1 : 1));
}

function isOfHosts(db: Db, condition: SQL): SQL {
  return inArray(findingTable.hostId, db.select({ id: hostTable.id }).from(hostTable).where(condition));
}

function noFindings(): SeverityCounts {
  return { blocker: 0, critical: 0, degraded: 0, warning: 0, info: 0 } satisfies Record<
    (typeof severities)[number],
    number
  >;
}
