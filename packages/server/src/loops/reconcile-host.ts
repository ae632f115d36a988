import type { Hello, OpenAttempt, ServerMessage } from '@gpufleet/shared/protocol';
import type { Db } from '../db/index.ts';
import {
  type AttemptRow,
  findAttemptRow,
  findJobRow,
  insertAttempt,
  jobIdOf,
  listGrantedRowsOf,
  updateAttempt,
} from '../resources/jobs/index.ts';
import { mayLearnAttempt } from './may-learn-attempt.ts';
import { adoptRunning } from './settle-attempt.ts';

/** An agent runs one attempt at a time; a few more may be ending. */
const maxOpen = 32;

/**
 * A session began: store and journal are brought together, and the journal wins. What the agent runs is granted, also
 * where this store (an older backup) does not know it. What we granted and it does not run is told to it again: it
 * answers with the result it has, begins it, or says that it never will. Nothing is given anew here.
 */
export async function reconcileHost(tx: Db, hostId: string, hello: Hello, nowMs: number): Promise<ServerMessage[]> {
  for (const open of hello.openAttempts.slice(0, maxOpen)) await learnOpen(tx, hostId, open, nowMs);
  const answers: ServerMessage[] = [];
  for (const attempt of await listGrantedRowsOf(tx, hostId)) {
    const isOpen = hello.openAttempts.some((open) => open.attemptId === attempt.id);
    // With a result on its way there is nothing to ask.
    if (!isOpen && hello.owedResults === 0) answers.push(...tellAgain(attempt));
    if (isOpen && attempt.cancelRequested !== null)
      answers.push({ type: 'cancel', attemptId: attempt.id, because: attempt.cancelRequested });
  }
  return answers;
}

export function tellAgain(attempt: AttemptRow): ServerMessage[] {
  const { id: attemptId, signedGrant, cancelRequested } = attempt;
  if (!signedGrant) return [];
  // Never a grant without the cancel that followed it: the host would begin what a person has stopped.
  const cancel: ServerMessage[] =
    cancelRequested === null ? [] : [{ type: 'cancel', attemptId, because: cancelRequested }];
  return [{ type: 'grant', attemptId, signed: signedGrant }, ...cancel];
}

async function learnOpen(tx: Db, hostId: string, open: OpenAttempt, nowMs: number): Promise<void> {
  const known = await findAttemptRow(tx, open.attemptId);
  // A host speaks for itself alone.
  if (known && known.hostId !== hostId) return;
  // Its result is written: the repeat that follows is acknowledged and changes nothing.
  if (known?.state === 'settled') return;
  if (!known && !(await mayLearnAttempt(tx, hostId, open.attemptId))) return;
  const jobId = known?.jobId ?? jobIdOf(open.attemptId);
  if (!known)
    await insertAttempt(tx, {
      id: open.attemptId,
      jobId,
      hostId,
      state: 'granted',
      phase: open.phase,
      serverEpoch: open.serverEpoch,
      offeredAtMs: nowMs,
      grantedAtMs: nowMs,
    });
  else if (known.state !== 'granted')
    await updateAttempt(tx, known.id, {
      state: 'granted',
      phase: open.phase,
      serverEpoch: open.serverEpoch,
      grantedAtMs: nowMs,
      declinedBecause: null,
    });
  const job = await findJobRow(tx, jobId);
  if (job?.hostId === hostId) await adoptRunning(tx, job, nowMs);
}
