import type { FindingQuery, HostFinding } from '@gpufleet/shared/api';
import type { Severity, severities } from '@gpufleet/shared/diagnosis';
import { and, count, eq, gt, inArray, isNotNull, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import { hostTable } from '../hosts/table.ts';
import { findingTable } from './table.ts';

/** By id, which is stable while findings come and go. */
export async function listFindings(db: Db, query: FindingQuery): Promise<Page<HostFinding>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await db
    .select({ finding: findingTable, hostName: hostTable.name, siteId: hostTable.siteId })
    .from(findingTable)
    .innerJoin(hostTable, eq(hostTable.id, findingTable.hostId))
    .where(
      and(
        query.state === 'open' ? isNull(findingTable.clearedAtMs) : undefined,
        query.state === 'cleared' ? isNotNull(findingTable.clearedAtMs) : undefined,
        query.site ? inArray(hostTable.siteId, query.site) : undefined,
        query.code ? eq(findingTable.code, query.code) : undefined,
        query.severity ? inArray(findingTable.severity, query.severity) : undefined,
        query.layer ? eq(findingTable.layer, query.layer) : undefined,
        query.host ? eq(findingTable.hostId, query.host) : undefined,
        after ? gt(findingTable.id, after[0]) : undefined,
      ),
    )
    .orderBy(findingTable.id)
    .limit(query.limit + 1);
  const items = rows.map(({ finding, hostName, siteId }) => ({
    ...finding.body,
    id: finding.id,
    hostId: finding.hostId,
    hostName,
    siteId,
    firstSeenAtMs: finding.firstSeenAtMs,
    lastSeenAtMs: finding.lastSeenAtMs,
    clearedAtMs: finding.clearedAtMs,
    openedCount: finding.openedCount,
  }));
  return toPage(items, query.limit, (item) => [item.id]);
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

/** Open findings of the fleet by severity. */
export async function countFleetFindings(db: Db): Promise<SeverityCounts> {
  const rows = await db
    .select({ severity: findingTable.severity, n: count() })
    .from(findingTable)
    .where(isNull(findingTable.clearedAtMs))
    .groupBy(findingTable.severity);
  return Object.assign(noFindings(), Object.fromEntries(rows.map(({ severity, n }) => [severity, n])));
}

function noFindings(): SeverityCounts {
  return { blocker: 0, critical: 0, degraded: 0, warning: 0, info: 0 } satisfies Record<
    (typeof severities)[number],
    number
  >;
}
