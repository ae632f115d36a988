import type { CreateEnrollmentToken, EnrollmentToken } from '@gpufleet/shared/api';
import type { z } from 'zod';
import type { Db } from '../../db/index.ts';
import type { Deps } from '../../deps.ts';
import type { By } from '../../http/route.ts';
import { hashSecret } from '../../http/secrets.ts';
import { recordAudit } from '../audit/index.ts';
import { getSiteRow } from '../sites/index.ts';
import { enrollmentTokenTable } from './table.ts';
import { toEnrollmentToken } from './to-api-token.ts';

/** The secret is in the answer and nowhere else. */
export async function createEnrollmentToken(
  tx: Db,
  deps: Pick<Deps, 'clock' | 'newId' | 'randomToken'>,
  request: z.output<typeof CreateEnrollmentToken>,
  by: By,
): Promise<EnrollmentToken & { token: string }> {
  await getSiteRow(tx, request.siteId);
  const secret = `gfe_${deps.randomToken(32)}`;
  const nowMs = deps.clock.nowMs();
  const row = {
    id: deps.newId('enroll'),
    siteId: request.siteId,
    hash: hashSecret(secret),
    uses: request.uses,
    usesLeft: request.uses,
    createdBy: by.actor,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + request.expiresInMs,
    revokedAtMs: null,
  };
  await tx.insert(enrollmentTokenTable).values(row);
  const token = toEnrollmentToken(row);
  const target = `enrollment_token:${row.id}`;
  await recordAudit(tx, { ...by, atMs: nowMs, action: 'enrollment_token.create', target, after: token });
  return { ...token, token: secret };
}
