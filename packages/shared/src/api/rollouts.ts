import { z } from 'zod';
import { JobRequest } from '../jobs/job-request.ts';
import { RolloutSpec } from '../rollouts/spec.ts';
import { Disposition, RolloutState, SlotState, WaitReason, WaveState } from '../rollouts/states.ts';
import { Id, PageQuery, Reason } from './common.ts';
import { JobPreview } from './jobs.ts';
import { SiteId } from './sites.ts';

export const GateCounters = z.object({
  /** N: slots that count. */
  counted: z.int(),
  /** T: failures tolerated. */
  tolerated: z.int(),
  good: z.int(),
  bad: z.int(),
  unknown: z.int(),
  running: z.int(),
  waiting: z.int(),
  deferred: z.int(),
  leftOut: z.int(),
});
export type GateCounters = z.infer<typeof GateCounters>;

export const Rollout = z.object({
  id: Id,
  name: z.string(),
  state: RolloutState,
  /** Why it is halted, paused, waiting …: code and sentence. */
  because: z.object({ because: z.string(), detail: z.string() }).nullable(),
  spec: RolloutSpec,
  planHash: z.string().nullable(),
  counters: GateCounters,
  waves: z.int(),
  currentWave: z.int().nullable(),
  createdBy: z.string(),
  createdAtMs: z.number(),
  startedAtMs: z.number().nullable(),
  endedAtMs: z.number().nullable(),
  version: z.int(),
});
export type Rollout = z.infer<typeof Rollout>;

export const Wave = z.object({
  index: z.int(),
  name: z.string(),
  state: WaveState,
  counters: GateCounters,
  openedAtMs: z.number().nullable(),
  soakUntilMs: z.number().nullable(),
  endedAtMs: z.number().nullable(),
});
export type Wave = z.infer<typeof Wave>;

export const Slot = z.object({
  id: Id,
  rolloutId: Id,
  waveIndex: z.int(),
  hostId: Id,
  hostName: z.string(),
  siteId: SiteId,
  state: SlotState,
  /** Why it waits, was deferred, failed …: reason, sentence, since when, and what would clear it. */
  waiting: z.object({ because: WaitReason, detail: z.string(), sinceMs: z.number(), clearedBy: z.string() }).nullable(),
  detail: z.string().nullable(),
  requests: z.array(JobRequest),
  disposition: Disposition.nullable(),
  attemptIds: z.array(Id),
  version: z.int(),
});
export type Slot = z.infer<typeof Slot>;

/** GET /rollouts/{id}/plan and POST /rollouts?dryRun=true */
export const RolloutPlan = z.object({
  planHash: z.string(),
  waves: z.array(
    z.object({
      index: z.int(),
      name: z.string(),
      slots: z.array(
        z.object({
          hostId: Id,
          hostName: z.string(),
          siteId: SiteId,
          className: z.string(),
          requests: z.array(JobRequest),
          preview: JobPreview,
        }),
      ),
    }),
  ),
  leftOut: z.array(z.object({ hostId: Id, hostName: z.string(), because: z.string(), detail: z.string() })),
  budgets: z.array(z.object({ siteId: SiteId, hosts: z.int(), budget: z.int(), unavailable: z.int() })),
});
export type RolloutPlan = z.infer<typeof RolloutPlan>;

export const RolloutQuery = PageQuery.extend({ state: RolloutState.optional() });
/** A failed slot's fate at `resume`; slotId or host name. */
export const ResumeRollout = z.strictObject({
  reason: Reason,
  dispositions: z
    .array(z.strictObject({ slot: Id, disposition: Disposition }))
    .max(10_000)
    .default([]),
  /** Applies to every slot that needs one and is not listed. */
  disposition: Disposition.optional(),
});
export type ResumeRollout = z.infer<typeof ResumeRollout>;
export const ApproveRollout = z.strictObject({ planHash: z.string().max(128) });
export const RolloutReason = z.strictObject({ reason: Reason });
/** POST /stop: halts every rollout and cancels what runs at its next safe point. */
export const StopRequest = RolloutReason;
export const StopResponse = z.object({ rolloutsHalted: z.int(), attemptsCanceled: z.int() });
