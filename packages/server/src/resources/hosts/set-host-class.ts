import type { HostClass } from '@gpufleet/shared/api';
import { toCanonicalJson } from '@gpufleet/shared/core';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { recordEvent } from '../events/index.ts';
import { getHostRow } from './host-store.ts';
import { hostTable } from './table.ts';

/** What the facts say the host is. Not a new version: that counts what operators change. */
export async function setHostClass(tx: Db, atMs: number, hostId: string, hostClass: HostClass): Promise<void> {
  const before = await getHostRow(tx, hostId);
  if (toCanonicalJson(before.class) === toCanonicalJson(hostClass)) return;
  await tx.update(hostTable).set({ class: hostClass }).where(eq(hostTable.id, hostId));
  const data = { class: hostClass };
  await recordEvent(tx, { atMs, type: 'host.class', siteId: before.siteId, hostId, data });
  signalCommit(tx, 'hosts', hostId);
}
