import type { AttemptResult } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { recordAudit } from '../resources/audit/index.ts';
import { type Abandoned, type AttemptRow, listAbandonedManualJobs, setJobState } from '../resources/jobs/index.ts';
import { settleAttempt } from './settle-attempt.ts';

/**
 * A decommissioned host sends no result, so a job that a person asked of it would run for ever; and one that waits must
 * not begin when the host is enrolled again, months later. Jobs of a rollout are the gate's business.
 */
export async function endAbandonedJobs({ db, clock }: Pick<AppDeps, 'db' | 'clock'>): Promise<void> {
  if ((await listAbandonedManualJobs(db.read)).length === 0) return;
  await db.write(async (tx) => {
    for (const abandoned of await listAbandonedManualJobs(tx)) await end(tx, abandoned, clock.nowMs());
  });
}

async function end(tx: Db, { job, granted }: Abandoned, nowMs: number): Promise<void> {
  if (granted) await settleAttempt(tx, granted, resultOf(granted, nowMs), nowMs);
  else await setJobState(tx, job.id, 'canceled', nowMs);
  await recordAudit(tx, {
    atMs: nowMs,
    actor: 'system:jobs',
    requestId: null,
    action: granted ? 'job.fail' : 'job.cancel',
    target: `job:${job.id}`,
    before: { state: job.state },
    after: { reason: 'host_decommissioned' },
  });
}

/** The server's own: what the host really did, nobody will tell. */
function resultOf(attempt: AttemptRow, nowMs: number): AttemptResult {
  const detail = 'the host was decommissioned while the attempt ran: what it did there is not known';
  return {
    attemptId: attempt.id,
    outcome: 'failed',
    because: [{ because: 'host_decommissioned', detail }],
    planHash: attempt.planHash,
    diffs: [],
    steps: [],
    startedAtMs: attempt.grantedAtMs ?? attempt.offeredAtMs,
    settledAtMs: nowMs,
  };
}
