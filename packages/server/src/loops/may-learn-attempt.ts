import type { Db } from '../db/index.ts';
import { countStrangeAttempts, findJobRow, isAttemptId, jobIdOf, listAttemptsOfJobs } from '../resources/jobs/index.ts';

/** More attempts than this of one job, or of jobs that this store does not know, no backup can have lost. */
const maxOfOneJob = 100;
const maxStrange = 200;

/**
 * May this store write down an attempt that it did not give, on the word of a host? An older backup learns so what runs.
 * A stolen host would use it to speak for another host's job, or to fill the store.
 */
export async function mayLearnAttempt(tx: Db, hostId: string, attemptId: string): Promise<boolean> {
  if (!isAttemptId(attemptId)) return false;
  const jobId = jobIdOf(attemptId);
  const job = await findJobRow(tx, jobId);
  if (job && job.hostId !== hostId) return false;
  if ((await listAttemptsOfJobs(tx, [jobId])).length >= maxOfOneJob) return false;
  return job !== undefined || (await countStrangeAttempts(tx, hostId)) < maxStrange;
}
