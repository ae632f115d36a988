import { findHold, type GrantQuestion } from './grant-checks.ts';
import type { JobView, SlotView } from './snapshot.ts';
import { windowStatus } from './window.ts';

/** A claim and everything it is judged by, read in the transaction that would make the grant. */
export interface GrantInput extends Omit<GrantQuestion, 'worstCaseMs' | 'hitsControlPlane'> {
  job: Pick<JobView, 'id' | 'state'> & { planHash: string | null };
  /** null: a job outside any rollout. */
  slot: Pick<SlotView, 'state' | 'worstCaseMs'> | null;
  /** An earlier job of the slot has not gone well. */
  isNextJob: boolean;
  hitsControlPlane: boolean;
  claim: { sessionEpoch: number; plan: { outcome: 'plan' | 'noop'; planHash: string | null; worstCaseMs: number } };
  /** Of the live session; undefined: there is none. */
  sessionEpoch: number | undefined;
  grantTtlMs: number;
}

export type GrantDecision =
  | { grant: true; expiresAtMs: number; deadlineMs: number }
  | { grant: false; because: string; detail: string };

/** The one place that permits an effect: everything is asked again, nothing is taken from the offer. */
export function decideGrant(input: GrantInput): GrantDecision {
  const { claim, job, slot } = input;
  if (input.sessionEpoch === undefined || claim.sessionEpoch !== input.sessionEpoch)
    return refuse('stale_session', 'the claim comes from an older session');
  if (job.state !== 'queued' || !input.isNextJob) return refuse('not_queued', `the job is ${job.state}`);
  if (slot && slot.state !== 'waiting') return refuse('slot_not_waiting', `the slot is ${slot.state}`);
  // Nothing to do needs no approval of what is done.
  if (claim.plan.outcome === 'plan' && job.planHash !== null && claim.plan.planHash !== job.planHash)
    return refuse('plan_changed', 'the plan is not the one that was approved');
  const worstCaseMs = Math.max(claim.plan.worstCaseMs, slot?.worstCaseMs ?? 0);
  const hold = findHold({ ...input, worstCaseMs });
  if (hold) return refuse(hold.because, hold.detail);
  return { grant: true, expiresAtMs: latestBeginMs(input, worstCaseMs), deadlineMs: claim.plan.worstCaseMs };
}

/** A grant that is begun at the last moment still fits its window, and does not outlive its rollout. */
function latestBeginMs({ nowMs, grantTtlMs, rollout, site }: GrantInput, worstCaseMs: number): number {
  const limits = [nowMs + grantTtlMs];
  if (rollout && rollout.expiresAtMs !== null) limits.push(rollout.expiresAtMs);
  const window = rollout ? (rollout.policy.window ?? site.window) : null;
  const status = window ? windowStatus(window, site.timezone, nowMs) : undefined;
  if (status?.open) limits.push(status.closesAtMs - worstCaseMs);
  return Math.min(...limits);
}

function refuse(because: string, detail: string): GrantDecision {
  return { grant: false, because, detail };
}
