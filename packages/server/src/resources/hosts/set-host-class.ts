import type { HostClass } from '@gpufleet/shared/api';
import { toCanonicalJson } from '@gpufleet/shared/core';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { recordEvent } from '../events/index.ts';
import { getHostRow } from './host-store.ts';
import { hostTable, hostTraitTable } from './table.ts';
import { toTraits, toVariant } from './to-traits.ts';

/** What the facts say the host is. Not a new version: that counts what operators change. */
export async function setHostClass(tx: Db, atMs: number, hostId: string, hostClass: HostClass): Promise<void> {
  const before = await getHostRow(tx, hostId);
  if (toCanonicalJson(before.class) === toCanonicalJson(hostClass)) return;
  await tx
    .update(hostTable)
    .set({ class: hostClass, variant: toVariant(hostClass) })
    .where(eq(hostTable.id, hostId));
  await tx.delete(hostTraitTable).where(eq(hostTraitTable.hostId, hostId));
  const traits = toTraits(hostClass).map((trait) => ({ hostId, ...trait }));
  if (traits.length > 0) await tx.insert(hostTraitTable).values(traits);
  const data = { class: hostClass };
  await recordEvent(tx, { atMs, type: 'host.class', siteId: before.siteId, hostId, data });
  signalCommit(tx, 'hosts', hostId);
}
