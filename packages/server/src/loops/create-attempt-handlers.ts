import type { PlanReason } from '@gpufleet/shared/jobs';
import type { AttemptResult, Decline, Progress } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import type { AttemptHandlers } from '../gateway/attempt-handlers.ts';
import {
  type AttemptRow,
  findAttemptRow,
  findJobRow,
  insertAttempt,
  jobIdOf,
  listGrantedRowsOf,
  updateAttempt,
} from '../resources/jobs/index.ts';
import { grantAttempt } from './grant-attempt.ts';
import { mayLearnAttempt } from './may-learn-attempt.ts';
import { reconcileHost, tellAgain } from './reconcile-host.ts';
import { adoptRunning, settleAttempt, voidAttempt } from './settle-attempt.ts';

/** Reasons of a host that are kept, and how much of each: they are shown in lists. */
const maxReasons = 20;
const maxReasonCharacters = 1_000;

/** Progress lines kept of an attempt. */
const maxProgress = 50;

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

export function createAttemptHandlers(deps: AppDeps): AttemptHandlers {
  const { db, clock, log, work } = deps;
  const heard = (attemptId: string) => work.lastWordMs.set(attemptId, clock.monotonicMs());

  return {
    async onHello(hostId, hello) {
      // Nothing to bring together: nearly every agent of a reconnect storm. No write for it.
      if (hello.openAttempts.length === 0 && (await listGrantedRowsOf(db.read, hostId)).length === 0) {
        work.wake();
        return [];
      }
      const answers = await db.write((tx) => reconcileHost(tx, hostId, hello, clock.nowMs()));
      for (const { attemptId } of hello.openAttempts) heard(attemptId);
      work.wake();
      return answers;
    },
    async onGone() {
      work.wake();
    },
    async onClaim(hostId, claim, session) {
      const answer = await db.write((tx) => grantAttempt(tx, deps, { hostId, claim, session }));
      if (answer.type === 'refusal')
        log.info({ hostId, attemptId: claim.attemptId, because: answer.because }, 'claim refused');
      else log.info({ hostId, attemptId: claim.attemptId }, 'attempt granted');
      work.offeredIn.delete(claim.attemptId);
      heard(claim.attemptId);
      work.wake();
      const attempt = answer.type === 'grant' ? await findAttemptRow(db.read, claim.attemptId) : undefined;
      return attempt ? tellAgain(attempt) : [answer];
    },
    async onDecline(hostId, decline) {
      await db.write((tx) => recordDecline(tx, hostId, decline));
      work.offeredIn.delete(decline.attemptId);
      work.wake();
      return [];
    },
    async onProgress(hostId, progress) {
      heard(progress.attemptId);
      await db.write((tx) => recordProgress(tx, hostId, progress));
      return [];
    },
    async onResult(hostId, { result }) {
      await db.write((tx) => recordResult(tx, hostId, result));
      work.lastWordMs.delete(result.attemptId);
      work.offeredIn.delete(result.attemptId);
      work.wake();
      return [{ type: 'result_ack', attemptId: result.attemptId }];
    },
  };

  async function recordDecline(tx: Db, hostId: string, { attemptId, because: given }: Decline): Promise<void> {
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

  async function recordProgress(tx: Db, hostId: string, progress: Progress): Promise<void> {
    const attempt = await findAttemptRow(tx, progress.attemptId);
    if (attempt?.hostId !== hostId || attempt.state !== 'granted') return;
    const steps = progress.step === null ? '' : ` [${progress.step + 1}/${progress.steps}]`;
    const line = { atMs: clock.nowMs(), text: `${progress.phase}${steps}: ${progress.text}`.slice(0, 500) };
    await updateAttempt(tx, attempt.id, {
      phase: progress.phase,
      progress: [...attempt.progress, line].slice(-maxProgress),
    });
  }

  /** Written once: a repeat is acknowledged, another result for the same attempt changes nothing. */
  async function recordResult(tx: Db, hostId: string, result: AttemptResult): Promise<void> {
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
      log.warn(
        { hostId, attemptId: result.attemptId.slice(0, 64) },
        'result of an attempt that no server gave: ignored',
      );
      return;
    }
    const attempt = known ?? (await learnAttempt(tx, hostId, result, nowMs));
    if (attempt.state !== 'granted') {
      const job = await findJobRow(tx, attempt.jobId);
      if (job?.hostId === hostId) await adoptRunning(tx, job, nowMs);
    }
    await settleAttempt(tx, attempt, result, nowMs);
  }

  /** This store is older than the attempt: its journal teaches it. */
  async function learnAttempt(tx: Db, hostId: string, result: AttemptResult, nowMs: number): Promise<AttemptRow> {
    log.warn({ hostId, attemptId: result.attemptId }, 'result of an attempt that this store does not know');
    const learned = { id: result.attemptId, jobId: jobIdOf(result.attemptId), hostId, offeredAtMs: nowMs };
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
