import type { Role } from '@gpufleet/shared/api';
import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { atMs, id } from '../../db/columns.ts';

export const apiTokenTable = sqliteTable(
  'api_tokens',
  {
    id: id(),
    name: text().notNull(),
    role: text().$type<Role>().notNull(),
    /** SHA-256 of the secret, hex. */
    hash: text().notNull(),
    createdBy: text().notNull(),
    createdAtMs: atMs().notNull(),
    expiresAtMs: atMs(),
    lastUsedAtMs: atMs(),
    revokedAtMs: atMs(),
  },
  (t) => [uniqueIndex('api_tokens_hash').on(t.hash)],
);

export const enrollmentTokenTable = sqliteTable(
  'enrollment_tokens',
  {
    id: id(),
    siteId: text().notNull(),
    hash: text().notNull(),
    uses: integer().notNull(),
    usesLeft: integer().notNull(),
    createdBy: text().notNull(),
    createdAtMs: atMs().notNull(),
    expiresAtMs: atMs().notNull(),
    revokedAtMs: atMs(),
  },
  (t) => [uniqueIndex('enrollment_tokens_hash').on(t.hash)],
);
