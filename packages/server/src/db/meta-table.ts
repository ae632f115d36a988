import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atMs } from './columns.ts';

/** Single values: serverEpoch, schema facts. */
export const metaTable = sqliteTable('meta', { key: text().primaryKey(), value: text().notNull() });

/** Answers of creating calls by Idempotency-Key and actor. */
export const idempotencyTable = sqliteTable(
  'idempotency_keys',
  {
    actor: text().notNull(),
    key: text().notNull(),
    requestHash: text().notNull(),
    status: integer().notNull(),
    body: text().notNull(),
    createdAtMs: atMs().notNull(),
  },
  (t) => [primaryKey({ columns: [t.actor, t.key] })],
);
