import { z } from 'zod';

/**
 * Whole from the first version, so that no client meets a new word later. Nothing enters those marked “not yet”: there is
 * no approval by several people, no start at a set time and no rollout of the inverse plan.
 */
export const RolloutState = z.enum([
  'draft', // not yet
  'planned',
  'awaiting_approval', // not yet
  'approved',
  'rejected', // not yet
  'scheduled', // not yet
  'running',
  'paused',
  'waiting_window',
  'halted',
  'completing',
  'succeeded',
  'completed_with_exceptions',
  'canceling',
  'canceled',
  'rolling_back', // not yet
  'rolled_back', // not yet
  'stale',
  'superseded',
]);
export type RolloutState = z.infer<typeof RolloutState>;

export const WaveState = z.enum(['pending', 'open', 'soaking', 'awaiting_gate', 'passed', 'failed']);
export type WaveState = z.infer<typeof WaveState>;

export const SlotState = z.enum([
  'queued',
  'waiting',
  'granted',
  'unknown',
  'deferred',
  'succeeded',
  'noop',
  'failed',
  'rolled_back',
  'rollback_failed',
  'canceled',
  'skipped',
  'superseded',
]);
export type SlotState = z.infer<typeof SlotState>;

export const WaitReason = z.enum([
  'offline',
  'window',
  'freeze',
  'budget',
  'lock',
  'precheck',
  'policy',
  'dependency',
  'wave',
  'rollout',
]);
export type WaitReason = z.infer<typeof WaitReason>;

/** What a person decided about a slot that went wrong, when clearing a halt. */
export const Disposition = z.enum(['retry', 'accept']);
export type Disposition = z.infer<typeof Disposition>;

export const settledSlotStates = [
  'succeeded',
  'noop',
  'failed',
  'rolled_back',
  'rollback_failed',
  'canceled',
  'skipped',
  'superseded',
] as const satisfies readonly SlotState[];
export const terminalRolloutStates = [
  'rejected',
  'succeeded',
  'completed_with_exceptions',
  'canceled',
  'rolled_back',
  'stale',
  'superseded',
] as const satisfies readonly RolloutState[];
