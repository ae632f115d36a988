import type { ApiToken, PageQuery } from '@gpufleet/shared/api';
import { and, gt, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import { apiTokenTable } from './table.ts';
import { toApiToken } from './to-api-token.ts';

/** Tokens that are not revoked, by id. */
export async function listApiTokens(db: Db, query: PageQuery): Promise<Page<ApiToken>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await db
    .select()
    .from(apiTokenTable)
    .where(and(isNull(apiTokenTable.revokedAtMs), after ? gt(apiTokenTable.id, after[0]) : undefined))
    .orderBy(apiTokenTable.id)
    .limit(query.limit + 1);
  return toPage(rows.map(toApiToken), query.limit, (token) => [token.id]);
}
