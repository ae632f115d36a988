import type { EnrollmentToken, PageQuery } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { eq, gt } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { enrollmentTokenTable } from './table.ts';
import { toEnrollmentToken } from './to-api-token.ts';

/** All of them, by id: used-up and revoked ones too, so that one can see who made what. */
export async function listEnrollmentTokens(db: Db, query: PageQuery): Promise<Page<EnrollmentToken>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await db
    .select()
    .from(enrollmentTokenTable)
    .where(after ? gt(enrollmentTokenTable.id, after[0]) : undefined)
    .orderBy(enrollmentTokenTable.id)
    .limit(query.limit + 1);
  return toPage(rows.map(toEnrollmentToken), query.limit, (token) => [token.id]);
}

export async function revokeEnrollmentToken(tx: Db, nowMs: number, id: string, by: By): Promise<void> {
  const token = (await tx.select().from(enrollmentTokenTable).where(eq(enrollmentTokenTable.id, id)))[0];
  if (!token) throw new FleetError('enrollment_token_not_found', `there is no enrolment token ${id}`);
  if (token.revokedAtMs !== null) return;
  await tx.update(enrollmentTokenTable).set({ revokedAtMs: nowMs }).where(eq(enrollmentTokenTable.id, id));
  const before = toEnrollmentToken(token);
  const target = `enrollment_token:${id}`;
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'enrollment_token.revoke', target, before });
}

export type EnrollmentTokenRow = typeof enrollmentTokenTable.$inferSelect;

/** The token with this hash, if it is neither revoked nor expired; its uses may be spent. */
export async function findEnrollmentToken(
  db: Db,
  hash: string,
  nowMs: number,
): Promise<EnrollmentTokenRow | undefined> {
  const token = (await db.select().from(enrollmentTokenTable).where(eq(enrollmentTokenTable.hash, hash)))[0];
  return token && token.revokedAtMs === null && token.expiresAtMs > nowMs ? token : undefined;
}

export async function setUsesLeft(tx: Db, id: string, usesLeft: number): Promise<void> {
  await tx.update(enrollmentTokenTable).set({ usesLeft }).where(eq(enrollmentTokenTable.id, id));
}
