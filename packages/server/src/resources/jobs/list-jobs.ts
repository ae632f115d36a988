import type { Attempt, Job, JobQuery } from '@gpufleet/shared/api';
import { and, desc, eq, lt, or } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import { decodeCursor, type Page, toPage } from '../../http/cursor.ts';
import { type AttemptRow, getAttemptRow, listAttemptsOfJobs } from './attempt-store.ts';
import { findManualHold } from './find-manual-hold.ts';
import { type FleetDeps, loadFleet } from './fleet-view.ts';
import { getJobRow, type JobRow } from './job-store.ts';
import { jobTable } from './table.ts';

/** Newest first. */
export async function listJobs(db: Db, deps: FleetDeps, query: z.output<typeof JobQuery>): Promise<Page<Job>> {
  const after = decodeCursor(query.cursor, z.tuple([z.number(), z.string()]));
  const rows = await db
    .select()
    .from(jobTable)
    .where(
      and(
        query.host ? eq(jobTable.hostId, query.host) : undefined,
        query.state ? eq(jobTable.state, query.state) : undefined,
        query.rollout ? eq(jobTable.rolloutId, query.rollout) : undefined,
        after
          ? or(lt(jobTable.createdAtMs, after[0]), and(eq(jobTable.createdAtMs, after[0]), lt(jobTable.id, after[1])))
          : undefined,
      ),
    )
    .orderBy(desc(jobTable.createdAtMs), desc(jobTable.id))
    .limit(query.limit + 1);
  const page = toPage(rows, query.limit, (row) => [row.createdAtMs, row.id]);
  return { items: await toJobs(db, deps, page.items), nextCursor: page.nextCursor };
}

export async function getJob(db: Db, deps: FleetDeps, id: string): Promise<Job> {
  const row = await getJobRow(db, id);
  const [job] = await toJobs(db, deps, [row]);
  if (!job) throw new Error(`job ${id} was read and is not there`);
  return job;
}

export async function getAttempt(db: Db, id: string): Promise<Attempt> {
  const row = await getAttemptRow(db, id);
  const { signedGrant: _grant, worstCaseMs: _worst, serverEpoch: _epoch, cancelRequested: _cancel, ...attempt } = row;
  return attempt;
}

async function toJobs(db: Db, deps: FleetDeps, rows: readonly JobRow[]): Promise<Job[]> {
  const attempts = await listAttemptsOfJobs(
    db,
    rows.map((row) => row.id),
  );
  const waitingHosts = rows.filter((row) => row.state === 'queued' && row.slotId === null).map((row) => row.hostId);
  const fleet = await loadFleet(db, deps, [...new Set(waitingHosts)]);
  return rows.map((row) => {
    const own = attempts.filter((attempt) => attempt.jobId === row.id);
    return {
      id: row.id,
      hostId: row.hostId,
      request: row.request,
      state: row.state,
      waiting: row.state === 'queued' ? waitingOf(row, own.at(-1)) : null,
      rolloutId: row.rolloutId,
      slotId: row.slotId,
      createdBy: row.createdBy,
      createdAtMs: row.createdAtMs,
      settledAtMs: row.settledAtMs,
      attempts: own.map((attempt) => attempt.id),
    };
  });

  function waitingOf(row: JobRow, attempt: AttemptRow | undefined): Job['waiting'] {
    if (row.slotId !== null)
      return {
        because: 'rollout',
        detail: `it waits in rollout ${row.rolloutId}: see the reason of slot ${row.slotId}`,
        sinceMs: row.createdAtMs,
      };
    const parts = {
      fleet,
      nowMs: deps.clock.nowMs(),
      offeredIn: deps.work.offeredIn,
      sessionEpoch: deps.gateway.sessionEpoch(row.hostId),
    };
    const hold = findManualHold(row, attempt, parts);
    if (!hold) return { because: 'offer', detail: 'it is offered to the host next', sinceMs: row.createdAtMs };
    return { because: hold.because, detail: `${hold.detail}; cleared by: ${hold.clearedBy}`, sinceMs: row.createdAtMs };
  }
}
