import type { AttemptOutcome, AttemptResult } from '@gpufleet/shared/protocol';
import { type AttemptEnd, foldContact, foldResult } from '@gpufleet/shared/rollouts';
import { type Db, signalCommit } from '../db/index.ts';
import { recordEvent } from '../resources/events/index.ts';
import { findHostRow, setHostStatus } from '../resources/hosts/index.ts';
import {
  type AttemptRow,
  findJobRow,
  type JobRow,
  setJobState,
  stopMark,
  updateAttempt,
} from '../resources/jobs/index.ts';
import { type LoadedRollout, loadSlotRollout, writeChanges } from '../resources/rollouts/index.ts';

/** Writes an attempt's one result down and takes it into its job, its slot and its host. */
export async function settleAttempt(tx: Db, attempt: AttemptRow, result: AttemptResult, nowMs: number): Promise<void> {
  await updateAttempt(tx, attempt.id, { state: 'settled', result, settledAtMs: nowMs });
  await tellHost(tx, attempt, 'attempt.settled', { outcome: result.outcome, because: result.because }, nowMs);
  await endJob(tx, attempt, result.outcome, detailOf(result), nowMs);
  if (result.outcome === 'rollback_failed')
    await setHostStatus(tx, {
      hostId: attempt.hostId,
      status: 'quarantined',
      reason: `attempt ${attempt.id} could not be put back: ${detailOf(result)}`,
      by: { actor: `host:${attempt.hostId}`, requestId: null },
      atMs: nowMs,
    });
}

/**
 * The host has said that it never began this attempt and never will: nothing was done, so its job may have another one.
 * The result is the server's own.
 */
export async function voidAttempt(tx: Db, attempt: AttemptRow, detail: string, nowMs: number): Promise<void> {
  const result: AttemptResult = {
    attemptId: attempt.id,
    outcome: 'failed',
    because: [{ because: 'never_begun', detail }],
    planHash: attempt.planHash,
    diffs: [],
    steps: [],
    startedAtMs: nowMs,
    settledAtMs: nowMs,
  };
  await updateAttempt(tx, attempt.id, { state: 'settled', result, settledAtMs: nowMs });
  await tellHost(tx, attempt, 'attempt.settled', { outcome: 'failed', because: result.because }, nowMs);
  await endJob(tx, attempt, attempt.cancelRequested === null ? 'void' : 'canceled', detail, nowMs);
}

/** The attempt runs, whatever this store believed: job and slot follow. */
export async function adoptRunning(tx: Db, job: JobRow, nowMs: number): Promise<void> {
  if (job.slotId === null) {
    if (job.state === 'queued' || job.state === 'unknown') await setJobState(tx, job.id, 'running', nowMs);
    return;
  }
  const loaded = await loadSlotRollout(tx, job.slotId);
  const slot = loaded?.snapshot.slots[0];
  if (!loaded || !slot) return;
  if (slot.state === 'unknown') {
    await writeChanges(tx, loaded.snapshot, foldContact(loaded.snapshot, job.id, nowMs), nowMs);
    return;
  }
  // An older store may not even have opened the wave: the agent's journal is right.
  const { snapshot } = loaded;
  if (slot.state !== 'queued' && slot.state !== 'waiting' && slot.state !== 'deferred') return;
  const waiting =
    slot.state === 'waiting'
      ? snapshot
      : await writeChanges(tx, snapshot, { slots: [{ id: slot.id, state: 'waiting' }] }, nowMs);
  await writeChanges(
    tx,
    waiting,
    {
      slots: [{ id: slot.id, state: 'granted', because: null, detail: null, sinceMs: nowMs }],
      jobs: [{ id: job.id, state: 'running' }],
    },
    nowMs,
  );
}

async function endJob(
  tx: Db,
  attempt: AttemptRow,
  outcome: AttemptOutcome | 'void',
  detail: string,
  nowMs: number,
): Promise<void> {
  const job = await findJobRow(tx, attempt.jobId);
  // A host speaks for itself alone.
  if (job?.hostId !== attempt.hostId) return;
  if (job.slotId === null) {
    await setJobState(tx, job.id, outcome === 'void' ? 'queued' : outcome, nowMs);
    return;
  }
  const loaded = await loadSlotRollout(tx, job.slotId);
  if (loaded) await foldInto(tx, loaded, { jobId: job.id, outcome, detail, wasStopped: wasStopped(attempt) }, nowMs);
}

async function foldInto(tx: Db, loaded: LoadedRollout, end: AttemptEnd, nowMs: number): Promise<void> {
  await writeChanges(tx, loaded.snapshot, foldResult(loaded.snapshot, end, nowMs), nowMs);
}

function wasStopped(attempt: AttemptRow): boolean {
  return attempt.cancelRequested?.startsWith(stopMark) ?? false;
}

function detailOf(result: AttemptResult): string {
  const reasons = result.because.map(({ because, detail }) => `${because}: ${detail}`);
  return reasons.length === 0 ? result.outcome : reasons.join('; ').slice(0, 2_000);
}

async function tellHost(tx: Db, attempt: AttemptRow, type: string, data: object, nowMs: number): Promise<void> {
  const host = await findHostRow(tx, attempt.hostId);
  const about = { attemptId: attempt.id, jobId: attempt.jobId, hostName: host?.name };
  await recordEvent(tx, {
    atMs: nowMs,
    type,
    hostId: attempt.hostId,
    siteId: host?.siteId ?? null,
    data: { ...about, ...data },
  });
  signalCommit(tx, 'rollouts', attempt.jobId);
}
