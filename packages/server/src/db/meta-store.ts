import { eq } from 'drizzle-orm';
import type { Db } from './database.ts';
import { metaTable } from './meta-table.ts';

export async function findMeta(db: Db, key: string): Promise<string | undefined> {
  return (await db.select({ value: metaTable.value }).from(metaTable).where(eq(metaTable.key, key)))[0]?.value;
}

export async function setMeta(tx: Db, key: string, value: string): Promise<void> {
  await tx.insert(metaTable).values({ key, value }).onConflictDoUpdate({ target: metaTable.key, set: { value } });
}
