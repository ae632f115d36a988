import type { Json } from '@gpufleet/shared/core';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atMs, json } from '../../db/columns.ts';

export const eventTable = sqliteTable('events', {
  id: integer().primaryKey({ autoIncrement: true }),
  atMs: atMs().notNull(),
  type: text().notNull(),
  siteId: text(),
  hostId: text(),
  rolloutId: text(),
  data: json<Json>().notNull(),
});
