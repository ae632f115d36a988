import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import {
  findManualHold,
  type JobRow,
  listAttemptsOfJobs,
  listQueuedManualJobs,
  loadFleet,
} from '../resources/jobs/index.ts';
import { type Offering, offerJob } from './tick-rollout.ts';

/** Offers the jobs that people asked of single hosts, one for each host, oldest first. */
export async function tickManualJobs(deps: AppDeps): Promise<Offering[]> {
  if ((await findReady(deps.db.read, deps)).length === 0) return [];
  return deps.db.write(async (tx) => {
    const offerings: Offering[] = [];
    for (const job of await findReady(tx, deps)) offerings.push(await offerJob(tx, job, deps.clock.nowMs()));
    return offerings;
  });
}

async function findReady(db: Db, deps: AppDeps): Promise<JobRow[]> {
  const jobs = await listQueuedManualJobs(db);
  if (jobs.length === 0) return [];
  const oldest = [...new Map([...jobs].reverse().map((job) => [job.hostId, job])).values()];
  const attempts = await listAttemptsOfJobs(
    db,
    oldest.map((job) => job.id),
  );
  const fleet = await loadFleet(
    db,
    deps,
    oldest.map((job) => job.hostId),
  );
  return oldest.filter((job) => {
    const latest = attempts.filter((attempt) => attempt.jobId === job.id).at(-1);
    return !findManualHold(job, latest, {
      fleet,
      nowMs: deps.clock.nowMs(),
      offeredIn: deps.work.offeredIn,
      sessionEpoch: deps.gateway.sessionEpoch(job.hostId),
    });
  });
}
