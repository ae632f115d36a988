import type { Host, HostQuery } from '@gpufleet/shared/api';
import { and, eq, gt, or, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { decodeCursor, type Page, toPage } from '../../http/cursor.ts';
import { hostQueryCondition } from '../../http/host-condition.ts';
import { countOpenFindings } from '../findings/index.ts';
import { getHostRow, type HostRow, labelsOf } from './host-store.ts';
import { hostTable } from './table.ts';

type Online = Pick<Gateway, 'isOnline'>;
const chunk = 500;

/** By name, then id. Decommissioned hosts only when their status is asked for. */
export async function listHosts(db: Db, gateway: Online, query: HostQuery): Promise<Page<Host>> {
  const filter = hostQueryCondition(db, query);
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
