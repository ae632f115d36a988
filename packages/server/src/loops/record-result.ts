import type { AttemptResult } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { type AttemptRow, findAttemptRow, findJobRow, insertAttempt, jobIdOf } from '../resources/jobs/index.ts';
import { mayLearnAttempt } from './may-learn-attempt.ts';
import { adoptRunning, settleAttempt } from './settle-attempt.ts';

type RecordDeps = Pick<AppDeps, 'clock' | 'log'>;

/** Written once: a repeat is acknowledged, another result for the same attempt changes nothing. */
export async function recordResult(
  tx: Db,
  { clock, log }: RecordDeps,
  hostId: string,
  result: AttemptResult,
): Promise<void> {
  const nowMs = clock.nowMs();
  const known = await findAttemptRow(tx, result.attemptId);
  if (known && known.hostId !== hostId) {
    log.warn({ hostId, attemptId: result.attemptId }, 'result for another host ignored');
    return;
  }
  if (known?.state === 'settled') {
    if (known.result?.outcome !== result.outcome)
      log.warn(
        { hostId, attemptId: known.id, kept: known.result?.outcome, sent: result.outcome },
        'other result ignored',
      );
    return;
  }
  if (!known && !(await mayLearnAttempt(tx, hostId, result.attemptId))) {
    log.warn({ hostId, attemptId: result.attemptId.slice(0, 64) }, 'result of an attempt that no server gave: ignored');
    return;
  }
  const attempt = known ?? (await learnAttempt(tx, { clock, log }, hostId, result));
  if (attempt.state !== 'granted') {
    const job = await findJobRow(tx, attempt.jobId);
    if (job?.hostId === hostId) await adoptRunning(tx, job, nowMs);
  }
  await settleAttempt(tx, attempt, result, nowMs);
}

/** This store is older than the attempt: its journal teaches it. */
async function learnAttempt(
  tx: Db,
  { clock, log }: RecordDeps,
  hostId: string,
  result: AttemptResult,
): Promise<AttemptRow> {
  log.warn({ hostId, attemptId: result.attemptId }, 'result of an attempt that this store does not know');
  const learned = { id: result.attemptId, jobId: jobIdOf(result.attemptId), hostId, offeredAtMs: clock.nowMs() };
  await insertAttempt(tx, {
    ...learned,
    state: 'offered',
    grantedAtMs: result.startedAtMs,
    planHash: result.planHash,
  });
  const row = await findAttemptRow(tx, result.attemptId);
  if (!row) throw new Error(`attempt ${result.attemptId} was inserted and is not there`);
  return row;
}
