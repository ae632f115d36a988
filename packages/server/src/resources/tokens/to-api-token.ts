import type { ApiToken, EnrollmentToken } from '@gpufleet/shared/api';
import type { apiTokenTable, enrollmentTokenTable } from './table.ts';

export function toApiToken(row: typeof apiTokenTable.$inferSelect): ApiToken {
  const { id, name, role, createdBy, createdAtMs, expiresAtMs, lastUsedAtMs } = row;
  return { id, name, role, createdBy, createdAtMs, expiresAtMs, lastUsedAtMs };
}

export function toEnrollmentToken(row: typeof enrollmentTokenTable.$inferSelect): EnrollmentToken {
  const { id, siteId, uses, usesLeft, createdBy, createdAtMs, expiresAtMs } = row;
  return { id, siteId, uses, usesLeft, createdBy, createdAtMs, expiresAtMs, revoked: row.revokedAtMs !== null };
}
