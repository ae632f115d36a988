import type { Attempt, JobState } from '@gpufleet/shared/api';
import type { JobRequest, PlanReason } from '@gpufleet/shared/jobs';
import type { AttemptPhase, AttemptResult, SignedGrant } from '@gpufleet/shared/protocol';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atMs, id, json } from '../../db/columns.ts';

export const jobTable = sqliteTable(
  'jobs',
  {
    id: id(),
    hostId: text().notNull(),
    request: json<JobRequest>().notNull(),
    state: text().$type<JobState>().notNull(),
    rolloutId: text(),
    slotId: text(),
    /** Order within its slot, from 0. */
    position: integer().notNull(),
    /** Hash that the plan must have: from the approved rollout plan; null binds nothing. */
    planHash: text(),
    createdBy: text().notNull(),
    createdAtMs: atMs().notNull(),
    settledAtMs: atMs(),
  },
  (t) => [
    index('jobs_host').on(t.hostId),
    index('jobs_state').on(t.state),
    index('jobs_slot').on(t.slotId, t.position),
  ],
);

export const attemptTable = sqliteTable(
  'attempts',
  {
    id: id(),
    jobId: text().notNull(),
    hostId: text().notNull(),
    state: text().$type<Attempt['state']>().notNull(),
    phase: text().$type<AttemptPhase>(),
    progress: json<{ atMs: number; text: string }[]>().notNull(),
    planHash: text(),
    disruption: text().$type<Attempt['disruption']>(),
    planSummary: json<string[]>().notNull(),
    worstCaseMs: integer(),
    declinedBecause: json<PlanReason[]>(),
    signedGrant: json<SignedGrant>(),
    /** Server epoch of the grant. */
    serverEpoch: integer(),
    cancelRequested: text(),
    offeredAtMs: atMs().notNull(),
    grantedAtMs: atMs(),
    expiresAtMs: atMs(),
    settledAtMs: atMs(),
    result: json<AttemptResult>(),
  },
  (t) => [
    index('attempts_job').on(t.jobId),
    index('attempts_host_state').on(t.hostId, t.state),
    index('attempts_state').on(t.state),
  ],
);
