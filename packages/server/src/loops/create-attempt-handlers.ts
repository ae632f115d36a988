import type { AppDeps } from '../deps.ts';
import type { AttemptHandlers } from '../gateway/attempt-handlers.ts';
import { findAttemptRow, listGrantedRowsOf } from '../resources/jobs/index.ts';
import { grantAttempt } from './grant-attempt.ts';
import { reconcileHost, tellAgain } from './reconcile-host.ts';
import { recordDecline } from './record-decline.ts';
import { recordProgress } from './record-progress.ts';
import { recordResult } from './record-result.ts';

/** What becomes of what agents say about their attempts. */
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
      await db.write((tx) => recordDecline(tx, deps, hostId, decline));
      work.offeredIn.delete(decline.attemptId);
      work.wake();
      return [];
    },
    async onProgress(hostId, progress) {
      heard(progress.attemptId);
      await db.write((tx) => recordProgress(tx, clock.nowMs(), hostId, progress));
      return [];
    },
    async onResult(hostId, { result }) {
      await db.write((tx) => recordResult(tx, deps, hostId, result));
      work.lastWordMs.delete(result.attemptId);
      work.offeredIn.delete(result.attemptId);
      work.wake();
      return [{ type: 'result_ack', attemptId: result.attemptId }];
    },
  };
}
