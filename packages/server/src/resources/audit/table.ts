import type { Json } from '@gpufleet/shared/core';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atMs, json } from '../../db/columns.ts';

export const auditTable = sqliteTable('audit', {
  seq: integer().primaryKey({ autoIncrement: true }),
  atMs: atMs().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  target: text().notNull(),
  requestId: text(),
  before: json<Json>(),
  after: json<Json>(),
});
