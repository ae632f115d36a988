import type { JobState } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { and, eq, inArray, isNull } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { jobTable } from './table.ts';

export type JobRow = typeof jobTable.$inferSelect;

export const settledJobStates = ['succeeded', 'noop', 'failed', 'rolled_back', 'rollback_failed', 'canceled'] as const;

export async function findJobRow(db: Db, id: string): Promise<JobRow | undefined> {
  return (await db.select().from(jobTable).where(eq(jobTable.id, id)))[0];
}

export async function getJobRow(db: Db, id: string): Promise<JobRow> {
  const row = await findJobRow(db, id);
  if (!row) throw new FleetError('job_not_found', `there is no job ${id}`, { jobId: id });
  return row;
}

export async function listSlotJobRows(db: Db, slotIds: readonly string[]): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  // SQL has a limit on the values of one statement.
  for (let at = 0; at < slotIds.length; at += 500)
    rows.push(
      ...(await db
        .select()
        .from(jobTable)
        .where(inArray(jobTable.slotId, slotIds.slice(at, at + 500)))
        .orderBy(jobTable.slotId, jobTable.position)),
    );
  return rows;
}

/** Jobs of one host that were asked for by a person, outside any rollout, and wait. */
export async function listQueuedManualJobs(db: Db): Promise<JobRow[]> {
  return db
    .select()
    .from(jobTable)
    .where(and(eq(jobTable.state, 'queued'), isNull(jobTable.slotId)))
    .orderBy(jobTable.createdAtMs, jobTable.id);
}

/** A state that is an end stamps the time; leaving one (`retry`) takes the stamp away. */
export async function setJobState(tx: Db, jobId: string, state: JobState, nowMs: number): Promise<void> {
  const isSettled = settledJobStates.some((settled) => settled === state);
  await tx
    .update(jobTable)
    .set({ state, settledAtMs: isSettled ? nowMs : null })
    .where(eq(jobTable.id, jobId));
  signalCommit(tx, 'jobs', jobId);
}

export async function insertSlotJobs(
  tx: Db,
  rows: readonly Omit<typeof jobTable.$inferInsert, 'state'>[],
): Promise<void> {
  await tx.insert(jobTable).values(rows.map((row) => ({ ...row, state: 'queued' as const })));
}

/** The plan that is approved for a job from now on. */
export async function setJobPlanHash(tx: Db, jobId: string, planHash: string | null): Promise<void> {
  await tx.update(jobTable).set({ planHash }).where(eq(jobTable.id, jobId));
}
