import { z } from 'zod';
import { JobKind, JobRequest } from '../jobs/job-request.ts';
import { Disruption, PlanReason } from '../jobs/step.ts';
import { AttemptPhase, AttemptResult } from '../protocol/attempt-report.ts';
import { Id, PageQuery } from './common.ts';

/** queued: no attempt runs yet (see `waiting`); running: granted; unknown: granted and out of contact past its lease. */
export const JobState = z.enum([
  'queued',
  'running',
  'unknown',
  'succeeded',
  'noop',
  'failed',
  'rolled_back',
  'rollback_failed',
  'canceled',
]);
export type JobState = z.infer<typeof JobState>;

export const Job = z.object({
  id: Id,
  hostId: Id,
  request: JobRequest,
  state: JobState,
  /** Why it has not begun: code, sentence, since when. */
  waiting: z.object({ because: z.string(), detail: z.string(), sinceMs: z.number() }).nullable(),
  rolloutId: Id.nullable(),
  slotId: Id.nullable(),
  createdBy: z.string(),
  createdAtMs: z.number(),
  settledAtMs: z.number().nullable(),
  attempts: z.array(Id),
});
export type Job = z.infer<typeof Job>;

export const CreateJob = z.strictObject({
  hostId: Id,
  kind: JobKind,
  params: z.record(z.string(), z.json()).default({}),
});
export type CreateJob = z.infer<typeof CreateJob>;

export const JobQuery = PageQuery.extend({ host: Id.optional(), state: JobState.optional(), rollout: Id.optional() });

export const Attempt = z.object({
  id: Id,
  jobId: Id,
  hostId: Id,
  state: z.enum(['offered', 'granted', 'settled', 'declined']),
  phase: AttemptPhase.nullable(),
  /** Last progress lines, oldest first, capped. */
  progress: z.array(z.object({ atMs: z.number(), text: z.string() })),
  planHash: z.string().nullable(),
  disruption: Disruption.nullable(),
  planSummary: z.array(z.string()),
  declinedBecause: z.array(PlanReason).nullable(),
  offeredAtMs: z.number(),
  grantedAtMs: z.number().nullable(),
  expiresAtMs: z.number().nullable(),
  settledAtMs: z.number().nullable(),
  result: AttemptResult.nullable(),
});
export type Attempt = z.infer<typeof Attempt>;

/** `POST /jobs?dryRun=true`: what the server, from the last known facts, expects the host to plan. */
export const JobPreview = z.object({
  outcome: z.enum(['plan', 'noop', 'blocked']),
  because: z.array(PlanReason),
  steps: z.array(z.string()),
  holders: z.array(z.string()),
  disruption: Disruption,
  worstCaseMs: z.int(),
  planHash: z.string().nullable(),
  factsReadAtMs: z.number().nullable(),
});
export type JobPreview = z.infer<typeof JobPreview>;
