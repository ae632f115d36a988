import { FleetError } from '@gpufleet/shared/core';
import { terminalRolloutStates } from '@gpufleet/shared/rollouts';
import { asc, eq, notInArray } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { rolloutTable, slotTable, waveTable } from './table.ts';

export type RolloutRow = typeof rolloutTable.$inferSelect;
export type WaveRow = typeof waveTable.$inferSelect;
export type SlotRow = typeof slotTable.$inferSelect;

async function findRolloutRow(db: Db, id: string): Promise<RolloutRow | undefined> {
  return (await db.select().from(rolloutTable).where(eq(rolloutTable.id, id)))[0];
}

export async function getRolloutRow(db: Db, id: string): Promise<RolloutRow> {
  const row = await findRolloutRow(db, id);
  if (!row) throw new FleetError('rollout_not_found', `there is no rollout ${id}`, { rolloutId: id });
  return row;
}

export async function listWaveRows(db: Db, rolloutId: string): Promise<WaveRow[]> {
  return db.select().from(waveTable).where(eq(waveTable.rolloutId, rolloutId)).orderBy(asc(waveTable.index));
}

export async function listSlotRows(db: Db, rolloutId: string): Promise<SlotRow[]> {
  return db
    .select()
    .from(slotTable)
    .where(eq(slotTable.rolloutId, rolloutId))
    .orderBy(asc(slotTable.waveIndex), asc(slotTable.position));
}

export async function findSlotRow(db: Db, id: string): Promise<SlotRow | undefined> {
  return (await db.select().from(slotTable).where(eq(slotTable.id, id)))[0];
}

/** Rollouts that have not ended, oldest first. */
export async function listOpenRollouts(db: Db): Promise<Pick<RolloutRow, 'id' | 'startedAtMs' | 'expiresAtMs'>[]> {
  return db
    .select({ id: rolloutTable.id, startedAtMs: rolloutTable.startedAtMs, expiresAtMs: rolloutTable.expiresAtMs })
    .from(rolloutTable)
    .where(notInArray(rolloutTable.state, [...terminalRolloutStates]))
    .orderBy(asc(rolloutTable.createdAtMs));
}
