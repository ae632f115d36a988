import type { ApiToken, CreateApiToken } from '@gpufleet/shared/api';
import type { z } from 'zod';
import type { Db } from '../../db/index.ts';
import type { Deps } from '../../deps.ts';
import type { By } from '../../http/route.ts';
import { hashSecret } from '../../http/secrets.ts';
import { recordAudit } from '../audit/index.ts';
import { apiTokenTable } from './table.ts';
import { toApiToken } from './to-api-token.ts';

/** The secret is in the answer and nowhere else. */
export async function createApiToken(
  tx: Db,
  deps: Pick<Deps, 'clock' | 'newId' | 'randomToken'>,
  request: z.output<typeof CreateApiToken>,
  by: By,
): Promise<ApiToken & { token: string }> {
  const secret = `gft_${deps.randomToken(32)}`;
  const nowMs = deps.clock.nowMs();
  const row = {
    id: deps.newId('token'),
    name: request.name,
    role: request.role,
    hash: hashSecret(secret),
    createdBy: by.actor,
    createdAtMs: nowMs,
    expiresAtMs: request.expiresInMs === undefined ? null : nowMs + request.expiresInMs,
    lastUsedAtMs: null,
    revokedAtMs: null,
  };
  await tx.insert(apiTokenTable).values(row);
  const token = toApiToken(row);
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'token.create', target: `token:${row.id}`, after: token });
  return { ...token, token: secret };
}
