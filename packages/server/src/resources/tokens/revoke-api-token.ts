import { FleetError } from '@gpufleet/shared/core';
import { and, eq, gt, isNull, ne, or, type SQL } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { apiTokenTable } from './table.ts';
import { toApiToken } from './to-api-token.ts';

/** Takes effect at the next call. The last live admin token stays: without one nobody could make another. */
export async function revokeApiToken(tx: Db, nowMs: number, id: string, by: By): Promise<void> {
  const token = (
    await tx
      .select()
      .from(apiTokenTable)
      .where(and(eq(apiTokenTable.id, id), isNull(apiTokenTable.revokedAtMs)))
  )[0];
  if (!token) throw new FleetError('token_not_found', `there is no token ${id}`);
  const otherAdmins = await tx
    .select({ id: apiTokenTable.id })
    .from(apiTokenTable)
    .where(and(isLive(nowMs), eq(apiTokenTable.role, 'admin'), ne(apiTokenTable.id, id)))
    .limit(1);
  if (token.role === 'admin' && otherAdmins.length === 0)
    throw new FleetError('last_admin_token', 'this is the last admin token: make another one first');
  await tx.update(apiTokenTable).set({ revokedAtMs: nowMs }).where(eq(apiTokenTable.id, id));
  await recordAudit(tx, {
    ...by,
    atMs: nowMs,
    action: 'token.revoke',
    target: `token:${id}`,
    before: toApiToken(token),
  });
}

/** Neither revoked nor expired. */
export function isLive(nowMs: number): SQL | undefined {
  return and(
    isNull(apiTokenTable.revokedAtMs),
    or(isNull(apiTokenTable.expiresAtMs), gt(apiTokenTable.expiresAtMs, nowMs)),
  );
}
