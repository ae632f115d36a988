import { inArray } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { hostTable } from '../hosts/table.ts';

export async function namesOfHosts(db: Db, hostIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .select({ id: hostTable.id, name: hostTable.name })
    .from(hostTable)
    .where(inArray(hostTable.id, [...hostIds]));
  return new Map(rows.map((row) => [row.id, row.name]));
}
