import {
  applyChanges,
  type Changes,
  type RolloutView,
  type SlotView,
  type Snapshot,
  terminalRolloutStates,
  toPolicy,
  type WaveView,
} from '@gpufleet/shared/rollouts';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import { recordEvent } from '../events/index.ts';
import { type JobRow, listSlotJobRows, setJobState } from '../jobs/index.ts';
import {
  findSlotRow,
  getRolloutRow,
  listSlotRows,
  listWaveRows,
  type RolloutRow,
  type SlotRow,
  type WaveRow,
} from './rollout-store.ts';
import { rolloutTable, slotTable, waveTable } from './table.ts';

/** A rollout as stored, and as its machines see it. */
export interface LoadedRollout {
  row: RolloutRow;
  slotRows: SlotRow[];
  jobRows: JobRow[];
  snapshot: Snapshot;
}

export async function loadRollout(db: Db, id: string): Promise<LoadedRollout> {
  const row = await getRolloutRow(db, id);
  return toLoaded(db, row, await listSlotRows(db, id));
}

/** The same with one slot only: enough for all that concerns a single attempt. */
export async function loadSlotRollout(db: Db, slotId: string): Promise<LoadedRollout | undefined> {
  const slot = await findSlotRow(db, slotId);
  return slot && toLoaded(db, await getRolloutRow(db, slot.rolloutId), [slot]);
}

async function toLoaded(db: Db, row: RolloutRow, slotRows: SlotRow[]): Promise<LoadedRollout> {
  const jobRows = await listSlotJobRows(
    db,
    slotRows.map((slot) => slot.id),
  );
  const waves = await listWaveRows(db, row.id);
  const jobs = jobRows.map(({ id, slotId, position, state }) => ({ id, slotId: slotId ?? '', position, state }));
  const snapshot = { rollout: toRolloutView(row), waves: waves.map(toWaveView), slots: slotRows.map(toSlotView), jobs };
  return { row, slotRows, jobRows, snapshot };
}

function toRolloutView(row: RolloutRow): RolloutView {
  const { id, state, because, becauseDetail, expiresAtMs, catchUpUntilMs, startedAtMs, endedAtMs } = row;
  return {
    id,
    state,
    because,
    becauseDetail,
    policy: toPolicy(row.spec),
    expiresAtMs,
    catchUpUntilMs,
    startedAtMs,
    endedAtMs,
  };
}

function toWaveView({ index, name, state, isCanary, openedAtMs, soakUntilMs, endedAtMs }: WaveRow): WaveView {
  return { index, name, state, isCanary, openedAtMs, soakUntilMs, endedAtMs };
}

function toSlotView(row: SlotRow): SlotView {
  const { id, waveIndex, position, hostId, siteId, state, because, detail, sinceMs, disposition, worstCaseMs } = row;
  return { id, waveIndex, position, hostId, siteId, state, because, detail, sinceMs, disposition, worstCaseMs };
}

/** Stores what the machines decided, tells the listeners, and returns the snapshot after it. */
export async function writeChanges(tx: Db, before: Snapshot, changes: Changes, nowMs: number): Promise<Snapshot> {
  const after = applyChanges(before, changes);
  const rolloutId = before.rollout.id;
  const tell = (type: string, data: Record<string, unknown>, host?: SlotView) =>
    recordEvent(tx, { atMs: nowMs, type, rolloutId, hostId: host?.hostId ?? null, siteId: host?.siteId ?? null, data });
  for (const change of changes.waves ?? []) {
    const wave = after.waves.find((each) => each.index === change.index);
    if (!wave) throw new Error(`wave ${change.index} was changed and is not there`);
    await tx
      .insert(waveTable)
      .values({ rolloutId, ...wave })
      .onConflictDoUpdate({ target: [waveTable.rolloutId, waveTable.index], set: wave });
    await tell('wave.changed', { index: wave.index, name: wave.name, state: wave.state });
  }
  for (const change of changes.slots ?? []) {
    const slot = after.slots.find((each) => each.id === change.id);
    if (!slot) throw new Error(`slot ${change.id} was changed and is not there`);
    const { id, ...values } = slot;
    const version = await nextSlotVersion(tx, id);
    await tx
      .update(slotTable)
      .set({ ...values, version })
      .where(eq(slotTable.id, id));
    await tell('slot.changed', { slotId: id, state: slot.state, detail: slot.detail }, slot);
  }
  for (const job of changes.jobs ?? []) await setJobState(tx, job.id, job.state, nowMs);
  if (changes.rollout && Object.keys(changes.rollout).length > 0) {
    const row = await getRolloutRow(tx, rolloutId);
    await tx
      .update(rolloutTable)
      .set({ ...changes.rollout, version: row.version + 1 })
      .where(eq(rolloutTable.id, rolloutId));
    const { state, because, becauseDetail } = after.rollout;
    if (state !== before.rollout.state) await tell(`rollout.${state}`, { state, because, detail: becauseDetail });
  }
  signalCommit(tx, 'rollouts', rolloutId);
  return after;
}

async function nextSlotVersion(tx: Db, id: string): Promise<number> {
  const row = (await tx.select({ version: slotTable.version }).from(slotTable).where(eq(slotTable.id, id)))[0];
  return (row?.version ?? 0) + 1;
}

/** Slots and jobs of a rollout that ended before it began. */
export async function endUnstarted(
  tx: Db,
  loaded: LoadedRollout,
  end: { state: 'stale' | 'superseded'; because: string; detail: string; atMs: number },
): Promise<void> {
  const { snapshot } = loaded;
  if (terminalRolloutStates.some((state) => state === snapshot.rollout.state)) return;
  await writeChanges(
    tx,
    snapshot,
    {
      rollout: { state: end.state, because: end.because, becauseDetail: end.detail, endedAtMs: end.atMs },
      slots: snapshot.slots.map(({ id }) => ({ id, state: 'superseded', detail: end.detail, sinceMs: end.atMs })),
      jobs: snapshot.jobs.map(({ id }) => ({ id, state: 'canceled' })),
    },
    end.atMs,
  );
}

/** Rollouts of this name that were not started. */
export async function findUnstartedByName(tx: Db, name: string): Promise<string[]> {
  const rows = await tx
    .select({ id: rolloutTable.id, state: rolloutTable.state })
    .from(rolloutTable)
    .where(eq(rolloutTable.name, name));
  return rows
    .filter((row) => ['planned', 'awaiting_approval', 'approved', 'scheduled'].includes(row.state))
    .map(({ id }) => id);
}
