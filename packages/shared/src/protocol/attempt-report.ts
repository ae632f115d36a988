import { z } from 'zod';
import { PlanReason } from '../jobs/step.ts';

/** How an attempt ended. `failed`: no effect remains. `rolled_back`: undone and verified. */
export const AttemptOutcome = z.enum(['succeeded', 'noop', 'failed', 'rolled_back', 'rollback_failed', 'canceled']);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;

/** Where a running attempt is. */
export const AttemptPhase = z.enum([
  'granted',
  'prechecking',
  'snapshotting',
  'draining',
  'applying',
  'restarting',
  'rebooting',
  'verifying',
  'confirming',
  'rolling_back',
]);
export type AttemptPhase = z.infer<typeof AttemptPhase>;

/** The one result of an attempt: written once, never changed, sent until the server has committed it. */
export const AttemptResult = z.object({
  attemptId: z.string(),
  outcome: AttemptOutcome,
  because: z.array(PlanReason),
  planHash: z.string().nullable(),
  /** Human-readable diff of each changed file, redacted and capped. */
  diffs: z.array(z.object({ path: z.string(), diff: z.string() })),
  /** One line a step: `edit_file /etc/docker/daemon.json`. */
  steps: z.array(
    z.object({ title: z.string(), state: z.enum(['done', 'undone', 'undo_failed', 'not_started', 'failed']) }),
  ),
  startedAtMs: z.number(),
  settledAtMs: z.number(),
});
export type AttemptResult = z.infer<typeof AttemptResult>;

/** An attempt that the agent holds a grant for, told at every hello. */
export const OpenAttempt = z.object({
  attemptId: z.string(),
  jobId: z.string(),
  phase: AttemptPhase,
  serverEpoch: z.int(),
});
export type OpenAttempt = z.infer<typeof OpenAttempt>;
