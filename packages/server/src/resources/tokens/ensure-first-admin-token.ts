import { and, eq } from 'drizzle-orm';
import type { Deps } from '../../deps.ts';
import { createApiToken } from './create-api-token.ts';
import { isLive } from './revoke-api-token.ts';
import { apiTokenTable } from './table.ts';

/**
 * On the first start, and when the last one has expired, there is no admin token: makes one and hands its secret to `keep` inside the same transaction, so a
 * secret that could not be kept leaves no token behind. Returns whether it made one.
 */
export async function ensureFirstAdminToken(
  deps: Pick<Deps, 'db' | 'clock' | 'newId' | 'randomToken'>,
  keep: (secret: string) => void,
): Promise<boolean> {
  return deps.db.write(async (tx) => {
    const admins = await tx
      .select({ id: apiTokenTable.id })
      .from(apiTokenTable)
      .where(and(eq(apiTokenTable.role, 'admin'), isLive(deps.clock.nowMs())))
      .limit(1);
    if (admins.length > 0) return false;
    const { token } = await createApiToken(
      tx,
      deps,
      { name: 'first-admin', role: 'admin' },
      { actor: 'system:start', requestId: null },
    );
    keep(token);
    return true;
  });
}
