import type { FindingTurn } from '@gpufleet/shared/api';
import type { Finding } from '@gpufleet/shared/diagnosis';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { atMs, id, json } from '../../db/columns.ts';

export const findingTable = sqliteTable(
  'findings',
  {
    id: id(),
    hostId: text().notNull(),
    code: text().notNull(),
    /** '' for the host as a whole: SQL's null is never equal to itself. */
    subject: text().notNull(),
    severity: text().$type<Finding['severity']>().notNull(),
    layer: text().$type<Finding['layer']>().notNull(),
    body: json<Finding>().notNull(),
    firstSeenAtMs: atMs().notNull(),
    lastSeenAtMs: atMs().notNull(),
    openedAtMs: atMs().notNull().default(0),
    clearedAtMs: atMs(),
    openedCount: integer().notNull(),
    /** The newest, oldest first. */
    turns: json<FindingTurn[]>().notNull().default([]),
  },
  (t) => [
    uniqueIndex('findings_identity').on(t.hostId, t.code, t.subject),
    index('findings_code').on(t.code, t.clearedAtMs),
    index('findings_cleared').on(t.clearedAtMs),
  ],
);
