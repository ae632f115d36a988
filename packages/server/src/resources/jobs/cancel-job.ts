import { FleetError } from '@gpufleet/shared/core';
import { and, eq } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { updateAttempt } from './attempt-store.ts';
import { getJobRow, setJobState } from './job-store.ts';
import { attemptTable } from './table.ts';

/** An attempt to be told that it should stop. */
export interface CancelNotice {
  hostId: string;
  attemptId: string;
  because: string;
}

/** Marks that a stop was by an emergency stop: such an attempt may run again when its rollout is resumed. */
export const stopMark = 'stop: ';

/** A job that waits ends at once; one that runs is asked to stop at its next safe point. */
export async function cancelJob(
  tx: Db,
  request: { jobId: string; reason: string; atMs: number; by: By },
): Promise<CancelNotice[]> {
  const { jobId, reason, atMs, by } = request;
  const job = await getJobRow(tx, jobId);
  if (job.state === 'queued' && job.slotId !== null)
    throw new FleetError('bad_job_state', `job ${jobId} waits in rollout ${job.rolloutId}: pause or cancel that`);
  if (job.state !== 'queued' && job.state !== 'running' && job.state !== 'unknown')
    throw new FleetError('bad_job_state', `job ${jobId} is ${job.state}: only one that waits or runs can be canceled`);
  if (job.state === 'queued') await setJobState(tx, jobId, 'canceled', atMs);
  await recordAudit(tx, {
    ...by,
    atMs,
    action: 'job.cancel',
    target: `job:${jobId}`,
    before: { state: job.state },
    after: { reason },
  });
  return requestCancel(tx, jobId, reason);
}

/** Writes the intent down, so that it also reaches a host that is away now, and returns whom to tell. */
export async function requestCancel(tx: Db, jobId: string, because: string): Promise<CancelNotice[]> {
  const running = await tx
    .select({ id: attemptTable.id, hostId: attemptTable.hostId })
    .from(attemptTable)
    .where(and(eq(attemptTable.jobId, jobId), eq(attemptTable.state, 'granted')));
  for (const attempt of running) await updateAttempt(tx, attempt.id, { cancelRequested: because });
  return running.map((attempt) => ({ hostId: attempt.hostId, attemptId: attempt.id, because }));
}
