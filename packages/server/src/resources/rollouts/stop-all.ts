import type { StopResponse } from '@gpufleet/shared/api';
import { stop } from '@gpufleet/shared/rollouts';
import type { z } from 'zod';
import type { Db } from '../../db/index.ts';
import type { AppDeps } from '../../deps.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import {
  type CancelNotice,
  findJobRow,
  listGrantedAttempts,
  listQueuedManualJobs,
  requestCancel,
  setJobState,
  stopMark,
} from '../jobs/index.ts';
import { listOpenRollouts } from './rollout-store.ts';
import { loadRollout, writeChanges } from './snapshot-store.ts';

export interface Stopped {
  response: z.infer<typeof StopResponse>;
  notices: CancelNotice[];
}

/** Emergency stop: halts every rollout that runs, ends what waits outside rollouts, asks all that runs to stop. */
export async function stopAll(tx: Db, deps: AppDeps, reason: string, by: By): Promise<Stopped> {
  const atMs = deps.clock.nowMs();
  let rolloutsHalted = 0;
  for (const { id } of await listOpenRollouts(tx)) {
    const { snapshot } = await loadRollout(tx, id);
    const stopped = stop(snapshot, reason);
    if (!stopped.ok) continue;
    await writeChanges(tx, snapshot, stopped.changes, atMs);
    rolloutsHalted += 1;
  }
  for (const job of await listQueuedManualJobs(tx)) await setJobState(tx, job.id, 'canceled', atMs);
  const notices: CancelNotice[] = [];
  for (const attempt of await listGrantedAttempts(tx)) {
    const job = await findJobRow(tx, attempt.jobId);
    // Only a rollout can be resumed: a job of one host that was stopped stays canceled.
    const because = job?.slotId ? `${stopMark}${reason}` : reason;
    notices.push(...(await requestCancel(tx, attempt.jobId, because)));
  }
  const response = { rolloutsHalted, attemptsCanceled: notices.length };
  await recordAudit(tx, { ...by, atMs, action: 'fleet.stop', target: 'fleet', after: { reason, ...response } });
  return { response, notices };
}
