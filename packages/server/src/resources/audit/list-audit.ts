import { type AuditEntry, PageQuery } from '@gpufleet/shared/api';
import { and, desc, eq, lt } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import { decodeCursor, NumberCursor, type Page, toPage } from '../../http/cursor.ts';
import { auditTable } from './table.ts';

export const AuditQuery = PageQuery.extend({
  actor: z.string().max(128).optional(),
  target: z.string().max(128).optional(),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** Newest first. */
export async function listAudit(db: Db, query: AuditQuery): Promise<Page<AuditEntry>> {
  const before = decodeCursor(query.cursor, NumberCursor);
  const rows = await db
    .select()
    .from(auditTable)
    .where(
      and(
        query.actor ? eq(auditTable.actor, query.actor) : undefined,
        query.target ? eq(auditTable.target, query.target) : undefined,
        before ? lt(auditTable.seq, before[0]) : undefined,
      ),
    )
    .orderBy(desc(auditTable.seq))
    .limit(query.limit + 1);
  return toPage(rows, query.limit, (row) => [row.seq]);
}
