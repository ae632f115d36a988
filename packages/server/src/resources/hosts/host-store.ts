import type { HostClass } from '@gpufleet/shared/api';
import { FleetError, type Labels } from '@gpufleet/shared/core';
import { eq, gt, inArray, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { hostLabelTable, hostTable } from './table.ts';

export type HostRow = typeof hostTable.$inferSelect;

export async function findHostRow(db: Db, id: string): Promise<HostRow | undefined> {
  const byId = prepared(db, 'hosts.by_id', (on) =>
    on
      .select()
      .from(hostTable)
      .where(eq(hostTable.id, sql.placeholder('id')))
      .prepare(),
  );
  return (await byId.execute({ id }))[0];
}

export async function getHostRow(db: Db, id: string): Promise<HostRow> {
  const row = await findHostRow(db, id);
  if (!row) throw new FleetError('host_not_found', `there is no host ${id}`, { hostId: id });
  return row;
}

/** Labels by host; a host without any is missing. */
export async function labelsOf(db: Db, hostIds: readonly string[]): Promise<Map<string, Labels>> {
  const rows = await db
    .select()
    .from(hostLabelTable)
    .where(inArray(hostLabelTable.hostId, [...hostIds]));
  const byHost = new Map<string, Labels>();
  for (const { hostId, key, value } of rows) byHost.set(hostId, { ...byHost.get(hostId), [key]: value });
  return byHost;
}

/** Before the first facts arrived nothing is known. */
export const unknownClass: HostClass = {
  platform: null,
  gpuModel: null,
  gpuCount: null,
  driverVersion: null,
  driverBranch: null,
  runtime: null,
  runtimeVersion: null,
  kubernetesRole: null,
  clusterId: null,
  mig: null,
  toolkitVersion: null,
  os: null,
  l4t: null,
};

/** Every host, page by page, other work let in between. */
export async function* listAllHostRows(db: Db): AsyncGenerator<HostRow> {
  for (let after = ''; ; ) {
    const rows = await db.select().from(hostTable).where(gt(hostTable.id, after)).orderBy(hostTable.id).limit(500);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < 500) return;
    after = last.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
