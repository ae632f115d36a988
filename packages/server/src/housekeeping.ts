import { and, desc, inArray, isNotNull, isNull, lt } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Config } from './config.ts';
import type { Database, Db } from './db/index.ts';
import { idempotencyTable } from './db/meta-table.ts';
import type { AppDeps } from './deps.ts';
import { auditTable } from './resources/audit/table.ts';
import { eventTable } from './resources/events/table.ts';
import { findingTable } from './resources/findings/table.ts';
import { attemptTable, jobTable } from './resources/jobs/table.ts';

const everyMs = 600_000;
const idempotencyKeptMs = 86_400_000;
/** Rows deleted in one write: other writes wait that long at most. */
const rowsPerWrite = 500;

export interface Deleted {
  events: number;
  findings: number;
  idempotencyKeys: number;
  audit: number;
  jobs: number;
}

/** Keeps history within the configured limits. */
export function startHousekeeping(deps: Pick<AppDeps, 'db' | 'clock' | 'config' | 'log' | 'metrics'>): () => void {
  return deps.clock.every(everyMs, async () => {
    try {
      const deleted = await deleteOldHistory(deps.db, deps.config.keep, deps.clock.nowMs());
      deps.metrics.loopRuns.inc({ loop: 'housekeeping', outcome: 'ok' });
      deps.log.info({ deleted }, 'old history deleted');
    } catch (error) {
      deps.metrics.loopRuns.inc({ loop: 'housekeeping', outcome: 'failed' });
      deps.log.error({ err: error }, 'old history was not deleted');
    }
  });
}

export async function deleteOldHistory(db: Database, keep: Config['keep'], nowMs: number): Promise<Deleted> {
  const findings = await deleteBy(db, findingTable, findingTable.id, (tx) =>
    tx
      .select({ id: findingTable.id })
      .from(findingTable)
      .where(and(isNotNull(findingTable.clearedAtMs), lt(findingTable.clearedAtMs, nowMs - keep.clearedFindingsMs)))
      .limit(rowsPerWrite),
  );
  const audit = await deleteBy(db, auditTable, auditTable.seq, (tx) =>
    tx
      .select({ id: auditTable.seq })
      .from(auditTable)
      .where(lt(auditTable.atMs, nowMs - keep.auditMs))
      .limit(rowsPerWrite),
  );
  return {
    events: await deleteEvents(db, keep.eventsMax),
    findings,
    idempotencyKeys: await deleteIdempotencyKeys(db, nowMs - idempotencyKeptMs),
    audit,
    jobs: await deleteJobs(db, nowMs - keep.settledJobsMs),
  };
}

async function deleteEvents(db: Database, max: number): Promise<number> {
  const newestGone = (
    await db.read.select({ id: eventTable.id }).from(eventTable).orderBy(desc(eventTable.id)).limit(1).offset(max)
  )[0];
  if (!newestGone) return 0;
  return deleteBy(db, eventTable, eventTable.id, (tx) =>
    tx
      .select({ id: eventTable.id })
      .from(eventTable)
      .where(lt(eventTable.id, newestGone.id + 1))
      .limit(rowsPerWrite),
  );
}

async function deleteIdempotencyKeys(db: Database, beforeMs: number): Promise<number> {
  return db.write(async (tx) => {
    const old = lt(idempotencyTable.createdAtMs, beforeMs);
    const count = await tx.$count(idempotencyTable, old);
    if (count > 0) await tx.delete(idempotencyTable).where(old);
    return count;
  });
}

/** Settled jobs of single hosts and their attempts. Jobs of a rollout stay as long as the rollout, whose counters they prove. */
async function deleteJobs(db: Database, beforeMs: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const gone = await db.write(async (tx) => {
      const rows = await tx
        .select({ id: jobTable.id })
        .from(jobTable)
        .where(and(isNotNull(jobTable.settledAtMs), lt(jobTable.settledAtMs, beforeMs), isNull(jobTable.rolloutId)))
        .limit(rowsPerWrite);
      const ids = rows.map((row) => row.id);
      await tx.delete(attemptTable).where(inArray(attemptTable.jobId, ids));
      await tx.delete(jobTable).where(inArray(jobTable.id, ids));
      return ids.length;
    });
    deleted += gone;
    if (gone < rowsPerWrite) return deleted;
  }
}

async function deleteBy(
  db: Database,
  table: SQLiteTable,
  column: SQLiteColumn,
  pick: (tx: Db) => PromiseLike<{ id: string | number }[]>,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const gone = await db.write(async (tx) => {
      const ids = (await pick(tx)).map((row) => row.id);
      if (ids.length > 0) await tx.delete(table).where(inArray(column, ids));
      return ids.length;
    });
    deleted += gone;
    if (gone < rowsPerWrite) return deleted;
  }
}
