import { z } from 'zod';
import { AttemptResult } from '../../protocol/attempt-report.ts';
import { JobRequest } from '../job-request.ts';
import { PlanReason, Step } from '../step.ts';
import { FileOwner } from '../steps/files.ts';

/** When an entry was written. Deadlines count uptime within boots; the wall clock is for people only. */
export const Stamp = z.object({ bootId: z.string(), uptimeMs: z.number(), nowMs: z.number() });
export type Stamp = z.infer<typeof Stamp>;

/** What a step that changes a file found and will leave, taken before any effect. */
export const StepSnapshot = z.object({
  step: z.int(),
  path: z.string(),
  /** Name of the copy in the attempt's snapshot folder; null: there was no file. */
  snapshot: z.string().nullable(),
  beforeSha256: z.string().nullable(),
  afterSha256: z.string().nullable(),
  diff: z.string(),
  /** Folders on the way to the file that the step will make, outermost first. */
  madeFolders: z.array(z.string()).default([]),
  /** Permission bits and owner of the file that was there. */
  mode: z.int().nullable().default(null),
  owner: FileOwner.nullable().default(null),
});
export type StepSnapshot = z.infer<typeof StepSnapshot>;

const Lane = z.enum(['do', 'undo']);
export type Lane = z.infer<typeof Lane>;

/** One line of `journal.jsonl`. An effect is announced by `begun` before it is made, and ended by `done` or `failed`. */
export const JournalEntry = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('granted'),
    at: Stamp,
    attemptId: z.string(),
    jobId: z.string(),
    origin: z.enum(['server', 'local']),
    undoOf: z.string().nullable(),
    request: JobRequest,
    /** Hash that the plan must have; null: any plan of the request. */
    planHash: z.string().nullable(),
    serverEpoch: z.int(),
    deadlineMs: z.number(),
  }),
  z.object({
    type: z.literal('planned'),
    at: Stamp,
    outcome: z.enum(['plan', 'noop', 'blocked']),
    because: z.array(PlanReason),
    planHash: z.string().nullable(),
    steps: z.array(Step),
    /** Facts by probe key that the plan was made on, for the verification. */
    before: z.record(z.string(), z.json()),
    /** Ways out of the host before anything was done, for a change that can cut it off; null: not read. */
    routes: z.array(z.string()).nullable().default(null),
  }),
  z.object({ type: z.literal('snapshotted'), at: Stamp, snapshots: z.array(StepSnapshot) }),
  /** `before` is what `probe` compares with after a crash. */
  z.object({ type: z.literal('begun'), at: Stamp, lane: Lane, step: z.int(), before: z.json() }),
  z.object({ type: z.literal('done'), at: Stamp, lane: Lane, step: z.int(), adopted: z.boolean() }),
  z.object({
    type: z.literal('failed'),
    at: Stamp,
    lane: Lane,
    step: z.int(),
    because: PlanReason,
    /** Something of ours may be there, so that it has to be put back. */
    effect: z.boolean(),
  }),
  z.object({ type: z.literal('verified'), at: Stamp, ok: z.boolean(), because: z.array(PlanReason) }),
  /** After a change that can cut the host off: can it still be reached? */
  z.object({ type: z.literal('confirmed'), at: Stamp, ok: z.boolean(), because: z.array(PlanReason) }),
  z.object({ type: z.literal('cancel_asked'), at: Stamp, because: z.string() }),
  /** What stopped the attempt, and the steps back. Snapshots of the way back are not needed: they are the originals. */
  z.object({
    type: z.literal('undo_planned'),
    at: Stamp,
    cause: z.enum(['step_failed', 'not_verified', 'not_confirmed', 'deadline', 'canceled', 'snapshot_failed']),
    because: z.array(PlanReason),
    steps: z.array(Step),
  }),
  z.object({ type: z.literal('settled'), at: Stamp, result: AttemptResult }),
  /** Asked once more after the next boot, where what the job did must last. The result stays what it is. */
  z.object({ type: z.literal('after_boot'), at: Stamp, ok: z.boolean(), because: z.array(PlanReason) }),
]);
export type JournalEntry = z.infer<typeof JournalEntry>;
export type EntryOf<T extends JournalEntry['type']> = Extract<JournalEntry, { type: T }>;
