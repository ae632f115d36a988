import type { RolloutPlan } from '@gpufleet/shared/api';
import type { JobRequest } from '@gpufleet/shared/jobs';
import type {
  Disposition,
  RolloutSpec,
  RolloutState,
  SlotState,
  WaitReason,
  WaveState,
} from '@gpufleet/shared/rollouts';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atMs, id, json } from '../../db/columns.ts';

export const rolloutTable = sqliteTable(
  'rollouts',
  {
    id: id(),
    name: text().notNull(),
    state: text().$type<RolloutState>().notNull(),
    because: text(),
    becauseDetail: text(),
    spec: json<RolloutSpec>().notNull(),
    planHash: text(),
    plan: json<RolloutPlan>(),
    createdBy: text().notNull(),
    createdAtMs: atMs().notNull(),
    startedAtMs: atMs(),
    endedAtMs: atMs(),
    expiresAtMs: atMs(),
    catchUpUntilMs: atMs(),
    version: integer().notNull(),
  },
  (t) => [index('rollouts_state').on(t.state)],
);

export const waveTable = sqliteTable(
  'waves',
  {
    rolloutId: text().notNull(),
    index: integer().notNull(),
    name: text().notNull(),
    state: text().$type<WaveState>().notNull(),
    isCanary: integer({ mode: 'boolean' }).notNull(),
    openedAtMs: atMs(),
    soakUntilMs: atMs(),
    endedAtMs: atMs(),
  },
  (t) => [primaryKey({ columns: [t.rolloutId, t.index] })],
);

export const slotTable = sqliteTable(
  'slots',
  {
    id: id(),
    rolloutId: text().notNull(),
    waveIndex: integer().notNull(),
    position: integer().notNull(),
    hostId: text().notNull(),
    siteId: text().notNull(),
    className: text().notNull(),
    state: text().$type<SlotState>().notNull(),
    because: text().$type<WaitReason>(),
    detail: text(),
    sinceMs: atMs().notNull(),
    requests: json<JobRequest[]>().notNull(),
    planHash: text(),
    disposition: text().$type<Disposition>(),
    worstCaseMs: integer().notNull(),
    version: integer().notNull(),
  },
  (t) => [index('slots_rollout').on(t.rolloutId, t.waveIndex), index('slots_host').on(t.hostId, t.state)],
);
