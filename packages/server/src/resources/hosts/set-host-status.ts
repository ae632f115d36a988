import type { HostStatus } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { type By, requireVersion } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { clearFindingsOf } from '../findings/index.ts';
import { getHostRow } from './host-store.ts';
import { hostTable } from './table.ts';

export interface StatusChange {
  hostId: string;
  status: HostStatus;
  /** Kept and shown: why. */
  reason: string;
  by: By;
  atMs: number;
}

/** Sets the status, whatever it was. The gateway hears of it after the commit and ends a revoked host's session. */
export async function setHostStatus(tx: Db, change: StatusChange): Promise<void> {
  const { hostId, status, reason, by, atMs } = change;
  const before = await getHostRow(tx, hostId);
  if (before.status === status) return;
  const statusReason = status === 'accepted' || status === 'pending' ? null : reason;
  await tx
    .update(hostTable)
    .set({ status, statusReason, version: before.version + 1 })
    .where(eq(hostTable.id, hostId));
  if (status === 'decommissioned') await clearFindingsOf(tx, hostId, atMs);
  await recordAudit(tx, {
    ...by,
    atMs,
    action: `host.${status}`,
    target: `host:${hostId}`,
    before: { status: before.status, statusReason: before.statusReason },
    after: { status, reason },
  });
  await recordEvent(tx, { atMs, type: 'host.status', siteId: before.siteId, hostId, data: { status, reason } });
  signalCommit(tx, 'hosts', hostId);
}

export type HostActionName = 'accept' | 'reject' | 'decommission' | 'lift-quarantine';

const actions: Readonly<Record<HostActionName, { from: readonly HostStatus[]; to: HostStatus }>> = {
  accept: { from: ['pending', 'rejected'], to: 'accepted' },
  reject: { from: ['pending'], to: 'rejected' },
  decommission: { from: ['pending', 'accepted', 'rejected', 'quarantined'], to: 'decommissioned' },
  'lift-quarantine': { from: ['quarantined'], to: 'accepted' },
};

/** What a person may do to a host, from where. */
export async function actOnHost(
  tx: Db,
  name: HostActionName,
  request: { hostId: string; reason: string; ifVersion: number | undefined; by: By; atMs: number },
): Promise<void> {
  const row = await getHostRow(tx, request.hostId);
  requireVersion(row.version, request.ifVersion);
  const { from, to } = actions[name];
  if (!from.includes(row.status))
    throw new FleetError(
      'bad_host_state',
      `host ${row.name} is ${row.status}: ${name} is for ${from.join(', ')} hosts`,
    );
  await setHostStatus(tx, { ...request, status: to });
}
