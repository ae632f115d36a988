import type { Host, HostQuery } from '@gpufleet/shared/api';
import type { Requirement } from '@gpufleet/shared/rollouts';
import { and, eq, exists, gt, inArray, isNull, like, ne, not, or, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { decodeCursor, type Page, toPage } from '../../http/cursor.ts';
import { requireSelector } from '../../http/require-selector.ts';
import { countOpenFindings, findingTable } from '../findings/index.ts';
import { getHostRow, type HostRow, labelsOf } from './host-store.ts';
import { hostLabelTable, hostTable } from './table.ts';

type Online = Pick<Gateway, 'isOnline'>;
const chunk = 500;

/** By name, then id. Decommissioned hosts only when their status is asked for. */
export async function listHosts(db: Db, gateway: Online, query: HostQuery): Promise<Page<Host>> {
  const filter = hostFilter(db, query);
  const wantsOnline = query.online === undefined ? undefined : query.online === 'true';
  let after = decodeCursor(query.cursor, z.tuple([z.string(), z.string()]));
  const rows: HostRow[] = [];
  // Liveness is in memory only, so that filter runs here, chunk by chunk.
  for (;;) {
    const found = await db
      .select()
      .from(hostTable)
      .where(and(filter, after ? isAfter(after) : undefined))
      .orderBy(hostTable.name, hostTable.id)
      .limit(wantsOnline === undefined ? query.limit + 1 : chunk);
    rows.push(...found.filter((row) => wantsOnline === undefined || gateway.isOnline(row.id) === wantsOnline));
    const last = found.at(-1);
    if (rows.length > query.limit || wantsOnline === undefined || found.length < chunk || !last) break;
    after = [last.name, last.id];
    await new Promise((resolve) => setImmediate(resolve));
  }
  const page = toPage(rows, query.limit, (row) => [row.name, row.id]);
  return { items: await toHosts(db, gateway, page.items), nextCursor: page.nextCursor };
}

export async function getHost(db: Db, gateway: Online, id: string): Promise<Host> {
  const [host] = await toHosts(db, gateway, [await getHostRow(db, id)]);
  if (!host) throw new Error(`host ${id} was read and is not there`);
  return host;
}

/** Rows with what other tables and the gateway's memory say of them. */
async function toHosts(db: Db, gateway: Online, rows: readonly HostRow[]): Promise<Host[]> {
  const ids = rows.map((row) => row.id);
  const labels = await labelsOf(db, ids);
  const findings = await countOpenFindings(db, ids);
  return rows.map((row) => ({
    id: row.id,
    siteId: row.siteId,
    name: row.name,
    status: row.status,
    statusReason: row.statusReason,
    online: gateway.isOnline(row.id),
    lastSeenAtMs: row.lastSeenAtMs,
    labels: labels.get(row.id) ?? {},
    class: row.class,
    agentVersion: row.agentVersion,
    bootId: row.bootId,
    clockSkewMs: row.clockSkewMs,
    findings: findings.get(row.id) ?? { blocker: 0, critical: 0, degraded: 0, warning: 0, info: 0 },
    enrolledAtMs: row.enrolledAtMs,
    version: row.version,
  }));
}

function isAfter([name, id]: [string, string]): SQL | undefined {
  return or(gt(hostTable.name, name), and(eq(hostTable.name, name), gt(hostTable.id, id)));
}

function hostFilter(db: Db, query: HostQuery): SQL | undefined {
  return and(
    query.site ? inArray(hostTable.siteId, query.site) : undefined,
    query.status ? eq(hostTable.status, query.status) : ne(hostTable.status, 'decommissioned'),
    query.name ? like(hostTable.name, `%${query.name.replaceAll(/[%_]/g, '')}%`) : undefined,
    query.finding ? hasOpenFinding(db, query.finding) : undefined,
    ...requireSelector(query.selector ?? '', 'query.selector').map((requirement) => labelCondition(db, requirement)),
  );
}

function hasOpenFinding(db: Db, code: string): SQL {
  return exists(
    db
      .select({ id: findingTable.id })
      .from(findingTable)
      .where(and(eq(findingTable.hostId, hostTable.id), eq(findingTable.code, code), isNull(findingTable.clearedAtMs))),
  );
}

/** As in Kubernetes, `!=` and `notin` also match a host that lacks the label. */
function labelCondition(db: Db, requirement: Requirement): SQL {
  const values = 'values' in requirement ? inArray(hostLabelTable.value, requirement.values) : undefined;
  const labelled = exists(
    db
      .select({ key: hostLabelTable.key })
      .from(hostLabelTable)
      .where(and(eq(hostLabelTable.hostId, hostTable.id), eq(hostLabelTable.key, requirement.key), values)),
  );
  return requirement.op === 'exists' || requirement.op === 'in' ? labelled : not(labelled);
}
