import type { PlanReason } from '@gpufleet/shared/jobs';
import type { AttemptResult, Decline } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { type AttemptRow, findAttemptRow, updateAttempt } from '../resources/jobs/index.ts';
import { settleAttempt, voidAttempt } from './settle-attempt.ts';

/** Reasons of a host that are kept, and how much of each: they are shown in lists. */
const maxReasons = 20;
const maxReasonCharacters = 1_000;

/**
 * What an agent answers to a grant that it has not taken and will never take. Any other word on a granted attempt may be
 * the answer to an earlier offer of it, and says nothing of the grant.
 */
const neverBegun = new Set([
  'unknown_signing_key',
  'bad_signature',
  'bad_grant',
  'foreign_host',
  'server_time_unknown',
  'not_yet_valid',
  'expired',
  'not_claimed',
  'other_request',
  'stale_session',
  'stale_server',
]);

type RecordDeps = Pick<AppDeps, 'clock' | 'log'>;

/** An offer that is not taken now, or a grant that is not begun. */
export async function recordDecline(
  tx: Db,
  { clock, log }: RecordDeps,
  hostId: string,
  { attemptId, because: given }: Decline,
): Promise<void> {
  const because = given.slice(0, maxReasons);
  const attempt = await findAttemptRow(tx, attemptId);
  if (attempt?.hostId !== hostId) return;
  if (attempt.state === 'offered') {
    await updateAttempt(tx, attemptId, { state: 'declined', declinedBecause: because.map(shorten) });
    return;
  }
  if (attempt.state !== 'granted') return;
  const codes = because.map((reason) => reason.because);
  const detail = because.map((reason) => `${reason.because}: ${reason.detail}`).join('; ');
  log.warn({ hostId, attemptId, because: codes }, 'grant declined');
  if (codes.every((code) => neverBegun.has(code))) await voidAttempt(tx, attempt, detail, clock.nowMs());
  // It took the attempt before and has lost the record: nobody knows what was done, so a person must look.
  else if (codes.includes('replayed')) await settleAttempt(tx, attempt, lostRecord(attempt, detail), clock.nowMs());
}

function shorten({ because, detail }: PlanReason): PlanReason {
  return { because: because.slice(0, 64), detail: detail.slice(0, maxReasonCharacters) };
}

function lostRecord(attempt: AttemptRow, detail: string): AttemptResult {
  return {
    attemptId: attempt.id,
    outcome: 'failed',
    because: [{ because: 'record_lost', detail }],
    planHash: attempt.planHash,
    diffs: [],
    steps: [],
    startedAtMs: attempt.grantedAtMs ?? attempt.offeredAtMs,
    settledAtMs: attempt.grantedAtMs ?? attempt.offeredAtMs,
  };
}
