import { eq, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { isSameHash } from '../../http/secrets.ts';
import { apiTokenTable } from './table.ts';

type Row = typeof apiTokenTable.$inferSelect;

/** The live token with this hash; undefined when there is none, or it is revoked or expired. */
export async function findApiToken(db: Db, hash: string, nowMs: number): Promise<Row | undefined> {
  const byHash = prepared(db, 'api_tokens.by_hash', (on) =>
    on
      .select()
      .from(apiTokenTable)
      .where(eq(apiTokenTable.hash, sql.placeholder('hash')))
      .prepare(),
  );
  const token = (await byHash.execute({ hash }))[0];
  if (!token || !isSameHash(token.hash, hash) || token.revokedAtMs !== null) return undefined;
  if (token.expiresAtMs !== null && token.expiresAtMs <= nowMs) return undefined;
  return token;
}
