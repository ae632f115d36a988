import type { ChangeQuery, FactChange, HistoryQuery, HostFactChange } from '@gpufleet/shared/api';
import { and, desc, eq, gte, lte, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import { decodeCursor, encodeCursor, type Page } from '../../http/cursor.ts';
import { hostCondition } from '../../http/host-condition.ts';
import { momentMs } from '../../http/moment-ms.ts';
import { factChangeTable, hostTable } from './table.ts';

/** Rows looked at for one page: a filter that nothing meets ends with an empty page and a cursor, not with a hung read. */
const maxRows = 5_000;
const chunk = 500;

interface ChangeRow {
  row: typeof factChangeTable.$inferSelect;
  hostName: string;
  siteId: string;
}

/** One host's, newest first. */
export async function listFactChanges(db: Db, hostId: string, query: HistoryQuery): Promise<Page<FactChange>> {
  const page = await pageOfChanges(db, query, eq(factChangeTable.hostId, hostId));
  return {
    ...page,
    items: page.items.map(({ atMs, name, path, before, after }) => ({ atMs, name, path, before, after })),
  };
}

/** Those of all hosts that the filter names, newest first. */
export function listFleetChanges(db: Db, query: ChangeQuery): Promise<Page<HostFactChange>> {
  return pageOfChanges(db, query, hostCondition(db, query));
}

/** A row holds several changes, so a cursor names the row and how many of its changes were given. */
async function pageOfChanges(db: Db, query: HistoryQuery, ofHosts: SQL | undefined): Promise<Page<HostFactChange>> {
  const from = decodeCursor(query.cursor, z.tuple([z.number(), z.number()]));
  const items: HostFactChange[] = [];
  let next: [number, number] | null = from ?? null;
  for (let looked = 0; ; ) {
    const rows = await readChunk(db, query, ofHosts, next?.[0]);
    for (const { row, hostName, siteId } of rows) {
      for (const [index, change] of row.changes.entries()) {
        if (next !== null && row.seq === next[0] && index < next[1]) continue;
        if (!change.path.startsWith(query.path ?? '')) continue;
        if (items.length === query.limit) return { items, nextCursor: encodeCursor([row.seq, index]) };
        items.push({ hostId: row.hostId, hostName, siteId, atMs: row.atMs, name: row.name, ...change });
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < chunk) return { items, nextCursor: null };
    // The next row is older than all that was seen.
    next = [last.row.seq - 1, 0];
    looked += rows.length;
    if (looked >= maxRows) return { items, nextCursor: encodeCursor(next) };
  }
}

async function readChunk(
  db: Db,
  { since, fact }: HistoryQuery,
  ofHosts: SQL | undefined,
  fromSeq: number | undefined,
): Promise<ChangeRow[]> {
  return db
    .select({ row: factChangeTable, hostName: hostTable.name, siteId: hostTable.siteId })
    .from(factChangeTable)
    .innerJoin(hostTable, eq(hostTable.id, factChangeTable.hostId))
    .where(
      and(
        ofHosts,
        fromSeq === undefined ? undefined : lte(factChangeTable.seq, fromSeq),
        since === undefined ? undefined : gte(factChangeTable.atMs, momentMs(since)),
        fact === undefined ? undefined : eq(factChangeTable.name, fact),
      ),
    )
    .orderBy(desc(factChangeTable.seq))
    .limit(chunk);
}
