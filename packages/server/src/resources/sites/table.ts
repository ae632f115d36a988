import type { Freeze } from '@gpufleet/shared/api';
import type { Window } from '@gpufleet/shared/rollouts';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { z } from 'zod';
import { atMs, id, json } from '../../db/columns.ts';

export const siteTable = sqliteTable('sites', {
  id: id(),
  timezone: text().notNull(),
  displayName: text(),
  window: json<Window>(),
  freezes: json<z.infer<typeof Freeze>[]>().notNull(),
  requireApproval: integer({ mode: 'boolean' }).notNull(),
  createdAtMs: atMs().notNull(),
  version: integer().notNull(),
});
