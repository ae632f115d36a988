import type { DifferenceQuery, FactDifferences } from '@gpufleet/shared/api';
import { and, asc, eq, gte, min } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { momentMs } from '../../http/moment-ms.ts';
import { foldChanges } from './fold-changes.ts';
import { factChangeTable } from './table.ts';

/** What is different on a host since a moment. */
export async function getDifferences(
  db: Db,
  hostId: string,
  query: DifferenceQuery,
  keptPerHost: number,
): Promise<FactDifferences> {
  const { fact, path = '' } = query;
  const sinceMs = momentMs(query.since);
  const rows = await db
    .select()
    .from(factChangeTable)
    .where(
      and(
        eq(factChangeTable.hostId, hostId),
        gte(factChangeTable.atMs, sinceMs),
        fact === undefined ? undefined : eq(factChangeTable.name, fact),
      ),
    )
    .orderBy(asc(factChangeTable.seq));
  return {
    sinceMs,
    knownSinceMs: await beginOfHistory(db, hostId, sinceMs, keptPerHost),
    differences: foldChanges(rows).filter((difference) => difference.path.startsWith(path)),
  };
}

/** null: everything since then is kept. Older reports were dropped only where as many as are kept are there. */
async function beginOfHistory(db: Db, hostId: string, sinceMs: number, keptPerHost: number): Promise<number | null> {
  const ofHost = eq(factChangeTable.hostId, hostId);
  if ((await db.$count(factChangeTable, ofHost)) < keptPerHost) return null;
  const [oldest] = await db
    .select({ atMs: min(factChangeTable.atMs) })
    .from(factChangeTable)
    .where(ofHost);
  const beginMs = oldest?.atMs ?? sinceMs;
  return beginMs > sinceMs ? beginMs : null;
}
