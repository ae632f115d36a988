import type { UpdateHost } from '@gpufleet/shared/api';
import { FleetError, Labels } from '@gpufleet/shared/core';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { type By, requireVersion } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { getSiteRow } from '../sites/index.ts';
import { getHostRow, labelsOf } from './host-store.ts';
import { hostLabelTable, hostTable } from './table.ts';

const maxLabels = 64;

export async function updateHost(
  tx: Db,
  nowMs: number,
  id: string,
  change: UpdateHost,
  ifVersion: number | undefined,
  by: By,
): Promise<void> {
  const row = await getHostRow(tx, id);
  requireVersion(row.version, ifVersion);
  const before = (await labelsOf(tx, [id])).get(id) ?? {};
  const labels = changeLabels(before, change);
  const siteId = change.siteId ?? row.siteId;
  if (siteId !== row.siteId) await getSiteRow(tx, siteId);
  await tx
    .update(hostTable)
    .set({ siteId, version: row.version + 1 })
    .where(eq(hostTable.id, id));
  await setLabels(tx, id, labels);
  await recordAudit(tx, {
    ...by,
    atMs: nowMs,
    action: 'host.update',
    target: `host:${id}`,
    before: { siteId: row.siteId, labels: before },
    after: { siteId, labels },
  });
  await recordEvent(tx, { atMs: nowMs, type: 'host.changed', siteId, hostId: id, data: { siteId, labels } });
  signalCommit(tx, 'hosts', id);
}

/** Replaces all labels of the host. */
export async function setLabels(tx: Db, hostId: string, labels: Labels): Promise<void> {
  await tx.delete(hostLabelTable).where(eq(hostLabelTable.hostId, hostId));
  const rows = Object.entries(labels).map(([key, value]) => ({ hostId, key, value }));
  if (rows.length > 0) await tx.insert(hostLabelTable).values(rows);
}

/** `labels` replaces, then `labelChanges` sets and removes single ones. */
function changeLabels(before: Labels, change: Pick<UpdateHost, 'labels' | 'labelChanges'>): Labels {
  const merged = new Map(Object.entries(change.labels ?? before));
  for (const [key, value] of Object.entries(change.labelChanges ?? {})) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return checkLabels(Object.fromEntries(merged));
}

export function checkLabels(labels: Record<string, string>): Labels {
  const parsed = Labels.safeParse(labels);
  if (!parsed.success) {
    const errors = parsed.error.issues.map((issue) => ({
      path: `labels.${issue.path.join('.')}`,
      message: issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
    }));
    throw new FleetError('bad_request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors });
  }
  if (Object.keys(parsed.data).length > maxLabels)
    throw new FleetError('bad_request', `a host has at most ${maxLabels} labels`);
  return parsed.data;
}
