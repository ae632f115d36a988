import type { Claim, Grant, ServerMessage } from '@gpufleet/shared/protocol';
import { decideGrant, type GrantInput, questionOf } from '@gpufleet/shared/rollouts';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import type { SessionInfo } from '../gateway/attempt-handlers.ts';
import { recordEvent } from '../resources/events/index.ts';
import {
  type AttemptRow,
  findAttemptRow,
  findJobRow,
  type JobRow,
  loadFleet,
  manualQuestion,
  setJobState,
  updateAttempt,
} from '../resources/jobs/index.ts';
import { type LoadedRollout, loadSlotRollout, loadWorld, writeChanges } from '../resources/rollouts/index.ts';

/** Of what a host says of its plan; more is in nobody's interest. */
const maxSummaryLines = 200;
const maxSummaryCharacters = 500;

export interface ClaimOf {
  hostId: string;
  claim: Claim;
  session: SessionInfo;
}

/**
 * The one permission to act, in one transaction: rollout, wave, slot, host, site and budget are read again and judged
 * again, then attempt, job and slot are written with the signed grant. The same claim again gets the same grant.
 */
export async function grantAttempt(tx: Db, deps: AppDeps, { hostId, claim, session }: ClaimOf): Promise<ServerMessage> {
  const { attemptId } = claim;
  const refuse = (because: string, detail: string) => ({ type: 'refusal', attemptId, because, detail }) as const;
  const attempt = await findAttemptRow(tx, attemptId);
  if (!attempt || attempt.hostId !== hostId)
    return refuse('unknown_attempt', 'no such attempt was offered to this host');
  if (attempt.state === 'granted' && attempt.signedGrant)
    return { type: 'grant', attemptId, signed: attempt.signedGrant };
  if (attempt.state !== 'offered') return refuse(`attempt_${attempt.state}`, `the attempt is ${attempt.state}`);
  const job = await findJobRow(tx, attempt.jobId);
  if (!job) return refuse('unknown_job', 'the job of this attempt is gone');
  const loaded = job.slotId === null ? undefined : await loadSlotRollout(tx, job.slotId);
  const question = await ask(tx, deps, job, loaded);
  if (!question) return refuse('unknown_job', 'the host or the slot of this attempt is gone');
  const decision = decideGrant({
    ...question,
    claim,
    sessionEpoch: deps.gateway.sessionEpoch(hostId),
    grantTtlMs: deps.config.grantTtlMs,
  });
  if (!decision.grant) {
    // It is asked again when that is over; until then its offer holds no place.
    await updateAttempt(tx, attemptId, {
      state: 'declined',
      declinedBecause: [{ because: decision.because, detail: decision.detail }],
    });
    return refuse(decision.because, decision.detail);
  }
  const nowMs = question.nowMs;
  const grant: Grant = {
    version: 1,
    hostId,
    attemptId,
    jobId: job.id,
    request: job.request,
    planHash: claim.plan.planHash,
    serverEpoch: session.serverEpoch,
    sessionEpoch: claim.sessionEpoch,
    notBeforeMs: nowMs,
    expiresAtMs: decision.expiresAtMs,
    deadlineMs: decision.deadlineMs,
    nonce: deps.randomToken(18),
  };
  const signed = deps.signer.sign(grant);
  await recordGrant(tx, { attempt, job, loaded, claim, grant, signed });
  return { type: 'grant', attemptId, signed };
}

type Question = Omit<GrantInput, 'claim' | 'sessionEpoch' | 'grantTtlMs'>;

async function ask(
  tx: Db,
  deps: AppDeps,
  job: JobRow,
  loaded: LoadedRollout | undefined,
): Promise<Question | undefined> {
  const about = { id: job.id, state: job.state, planHash: job.planHash };
  if (!loaded) {
    const question = manualQuestion(job, await loadFleet(tx, deps, [job.hostId]), deps.clock.nowMs());
    return question && { ...question, job: about, slot: null, isNextJob: true };
  }
  const slot = loaded.snapshot.slots[0];
  if (!slot) return undefined;
  const world = await loadWorld(tx, deps, loaded);
  const earlier = loaded.jobRows.filter((each) => each.position < job.position);
  return {
    ...questionOf(world, slot),
    job: about,
    slot,
    isNextJob: earlier.every((each) => each.state === 'succeeded' || each.state === 'noop'),
  };
}

interface Granted {
  attempt: AttemptRow;
  job: JobRow;
  loaded: LoadedRollout | undefined;
  claim: Claim;
  grant: Grant;
  signed: AttemptRow['signedGrant'];
}

async function recordGrant(tx: Db, { attempt, job, loaded, claim, grant, signed }: Granted): Promise<void> {
  const nowMs = grant.notBeforeMs;
  const { plan } = claim;
  await updateAttempt(tx, attempt.id, {
    state: 'granted',
    phase: 'granted',
    planHash: plan.planHash,
    disruption: plan.disruption,
    planSummary: plan.summary.slice(0, maxSummaryLines).map((line) => line.slice(0, maxSummaryCharacters)),
    worstCaseMs: plan.worstCaseMs,
    signedGrant: signed,
    serverEpoch: grant.serverEpoch,
    grantedAtMs: nowMs,
    expiresAtMs: grant.expiresAtMs,
  });
  const slot = loaded?.snapshot.slots[0];
  if (loaded && slot) {
    const change = { id: slot.id, state: 'granted' as const, because: null, detail: null, sinceMs: nowMs };
    await writeChanges(tx, loaded.snapshot, { slots: [change], jobs: [{ id: job.id, state: 'running' }] }, nowMs);
  } else {
    await setJobState(tx, job.id, 'running', nowMs);
  }
  await recordEvent(tx, {
    atMs: nowMs,
    type: 'attempt.granted',
    hostId: attempt.hostId,
    siteId: slot?.siteId ?? null,
    rolloutId: job.rolloutId,
    data: { attemptId: attempt.id, jobId: job.id, disruption: plan.disruption, expiresAtMs: grant.expiresAtMs },
  });
}
