import type { Attempt } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { and, desc, eq, inArray, notExists, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import type { JobRow } from './job-store.ts';
import { attemptTable, jobTable } from './table.ts';

export type AttemptRow = typeof attemptTable.$inferSelect;

export async function findAttemptRow(db: Db, id: string): Promise<AttemptRow | undefined> {
  return (await db.select().from(attemptTable).where(eq(attemptTable.id, id)))[0];
}

export async function getAttemptRow(db: Db, id: string): Promise<AttemptRow> {
  const row = await findAttemptRow(db, id);
  if (!row) throw new FleetError('attempt_not_found', `there is no attempt ${id}`, { attemptId: id });
  return row;
}

/** Oldest first. */
export async function listAttemptsOfJobs(db: Db, jobIds: readonly string[]): Promise<AttemptRow[]> {
  const rows: AttemptRow[] = [];
  for (let at = 0; at < jobIds.length; at += 500)
    rows.push(
      ...(await db
        .select()
        .from(attemptTable)
        .where(inArray(attemptTable.jobId, jobIds.slice(at, at + 500)))
        .orderBy(attemptTable.offeredAtMs, attemptTable.id)),
    );
  return rows;
}

/** Attempts that run now, of every host: few, since budgets are small. */
export async function listGrantedAttempts(db: Db): Promise<Pick<AttemptRow, 'id' | 'hostId' | 'jobId'>[]> {
  return db
    .select({ id: attemptTable.id, hostId: attemptTable.hostId, jobId: attemptTable.jobId })
    .from(attemptTable)
    .where(eq(attemptTable.state, 'granted'));
}

export async function listGrantedRowsOf(db: Db, hostId: string): Promise<AttemptRow[]> {
  // Asked at every hello of every agent.
  const granted = prepared(db, 'attempts.granted_of_host', (on) =>
    on
      .select()
      .from(attemptTable)
      .where(and(eq(attemptTable.hostId, sql.placeholder('hostId')), eq(attemptTable.state, 'granted')))
      .prepare(),
  );
  return granted.execute({ hostId });
}

/**
 * Attempts are numbered within their job: a server restored from an older backup offers the same id again, and the
 * agent, which remembers it, answers with its result instead of doing the work twice.
 */
function attemptIdOf(jobId: string, number: number): string {
  return `${jobId}-${number}`;
}

/** As `attemptIdOf` makes them; anything else was never given by a server. */
export function isAttemptId(text: string): boolean {
  return text.length <= 64 && /^[A-Za-z0-9_-]+-[1-9]\d{0,5}$/.test(text);
}

/** Attempts of this host whose job this store does not have. */
export async function countStrangeAttempts(db: Db, hostId: string): Promise<number> {
  const job = db.select({ id: jobTable.id }).from(jobTable).where(eq(jobTable.id, attemptTable.jobId));
  return db.$count(attemptTable, and(eq(attemptTable.hostId, hostId), notExists(job)));
}

function numberOf(attemptId: string): number {
  return Number(/-(\d+)$/.exec(attemptId)?.[1] ?? 0);
}

export function jobIdOf(attemptId: string): string {
  return attemptId.replace(/-\d+$/, '');
}

/** Notes that the job is offered now, in the attempt that was not taken yet or in a new one. Returns its id. */
export async function recordOffer(tx: Db, job: JobRow, nowMs: number): Promise<string> {
  const attempts = await tx
    .select({ id: attemptTable.id, state: attemptTable.state })
    .from(attemptTable)
    .where(eq(attemptTable.jobId, job.id))
    .orderBy(desc(attemptTable.offeredAtMs), desc(attemptTable.id));
  const open = attempts.find((attempt) => attempt.state === 'offered' || attempt.state === 'declined');
  if (open) {
    await updateAttempt(tx, open.id, { state: 'offered', offeredAtMs: nowMs, declinedBecause: null });
    return open.id;
  }
  // After the highest: an agent may have told of attempts that this store has no row for.
  const id = attemptIdOf(job.id, Math.max(0, ...attempts.map((attempt) => numberOf(attempt.id))) + 1);
  await insertAttempt(tx, { id, jobId: job.id, hostId: job.hostId, state: 'offered', offeredAtMs: nowMs });
  return id;
}

export async function insertAttempt(
  tx: Db,
  row: Pick<AttemptRow, 'id' | 'jobId' | 'hostId' | 'offeredAtMs'> & { state: Attempt['state'] } & Partial<AttemptRow>,
): Promise<void> {
  await tx.insert(attemptTable).values({ progress: [], planSummary: [], ...row });
}

export async function updateAttempt(tx: Db, id: string, values: Partial<AttemptRow>): Promise<void> {
  await tx.update(attemptTable).set(values).where(eq(attemptTable.id, id));
}
