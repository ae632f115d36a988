import type { Rollout, RolloutQuery, Slot, Wave } from '@gpufleet/shared/api';
import { countSlots, countWave, currentWave, type Held, orderedWaves, planRollout } from '@gpufleet/shared/rollouts';
import { and, desc, eq, lt, or } from 'drizzle-orm';
import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import { decodeCursor, NumberCursor, type Page, toPage } from '../../http/cursor.ts';
import { type FleetDeps, listAttemptsOfJobs } from '../jobs/index.ts';
import { namesOfHosts } from './host-names.ts';
import { loadWorld } from './load-world.ts';
import { type LoadedRollout, loadRollout } from './snapshot-store.ts';
import { rolloutTable } from './table.ts';

/** Newest first. */
export async function listRollouts(db: Db, query: z.output<typeof RolloutQuery>): Promise<Page<Rollout>> {
  const after = decodeCursor(query.cursor, z.tuple([z.number(), z.string()]));
  const rows = await db
    .select({ id: rolloutTable.id, createdAtMs: rolloutTable.createdAtMs })
    .from(rolloutTable)
    .where(
      and(
        query.state ? eq(rolloutTable.state, query.state) : undefined,
        after
          ? or(
              lt(rolloutTable.createdAtMs, after[0]),
              and(eq(rolloutTable.createdAtMs, after[0]), lt(rolloutTable.id, after[1])),
            )
          : undefined,
      ),
    )
    .orderBy(desc(rolloutTable.createdAtMs), desc(rolloutTable.id))
    .limit(query.limit + 1);
  const page = toPage(rows, query.limit, (row) => [row.createdAtMs, row.id]);
  const items: Rollout[] = [];
  for (const { id } of page.items) items.push(toRollout(await loadRollout(db, id)));
  return { items, nextCursor: page.nextCursor };
}

export async function getRollout(db: Db, id: string): Promise<Rollout> {
  return toRollout(await loadRollout(db, id));
}

function toRollout({ row, snapshot }: LoadedRollout): Rollout {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    because: row.because === null ? null : { because: row.because, detail: row.becauseDetail ?? '' },
    spec: row.spec,
    planHash: row.planHash,
    counters: countSlots(snapshot.slots, snapshot.rollout.policy.failure),
    waves: orderedWaves(snapshot).length,
    currentWave: row.startedAtMs === null ? null : (currentWave(snapshot)?.index ?? null),
    createdBy: row.createdBy,
    createdAtMs: row.createdAtMs,
    startedAtMs: row.startedAtMs,
    endedAtMs: row.endedAtMs,
    version: row.version,
  };
}

export async function listWaves(
  db: Db,
  id: string,
  query: { limit: number; cursor?: string | undefined },
): Promise<Page<Wave>> {
  const after = decodeCursor(query.cursor, NumberCursor)?.[0] ?? 0;
  const { snapshot } = await loadRollout(db, id);
  const rows = snapshot.waves.slice(after, after + query.limit + 1).map((wave) => {
    const { index, name, state, openedAtMs, soakUntilMs, endedAtMs } = wave;
    return { index, name, state, openedAtMs, soakUntilMs, endedAtMs, counters: countWave(snapshot, wave) };
  });
  return toPage(rows, query.limit, () => [after + query.limit]);
}

/** In the order of the plan, each with the reason for which it waits, made now. */
export async function listSlots(
  db: Db,
  deps: FleetDeps,
  id: string,
  query: { limit: number; cursor?: string | undefined },
): Promise<Page<Slot>> {
  const after = decodeCursor(query.cursor, NumberCursor)?.[0] ?? 0;
  const loaded = await loadRollout(db, id);
  const held = new Map(planRollout(await loadWorld(db, deps, loaded)).held.map((each) => [each.slotId, each]));
  const rows = loaded.slotRows.slice(after, after + query.limit + 1);
  const jobs = loaded.jobRows.filter((job) => rows.some((row) => row.id === job.slotId));
  const attempts = await listAttemptsOfJobs(
    db,
    jobs.map((job) => job.id),
  );
  const names = await namesOfHosts(
    db,
    rows.map((row) => row.hostId),
  );
  const items = rows.map((row) => {
    const own = jobs.filter((job) => job.slotId === row.id).map((job) => job.id);
    return {
      id: row.id,
      rolloutId: id,
      waveIndex: row.waveIndex,
      hostId: row.hostId,
      hostName: names.get(row.hostId) ?? row.hostId,
      siteId: row.siteId,
      state: row.state,
      waiting: toWaiting(held.get(row.id), row.state),
      detail: row.detail,
      requests: row.requests,
      disposition: row.disposition,
      attemptIds: attempts.filter((attempt) => own.includes(attempt.jobId)).map((attempt) => attempt.id),
      version: row.version,
    };
  });
  const page = toPage(
    items.map((item, at) => ({ item, next: after + at + 1 })),
    query.limit,
    ({ next }) => [next],
  );
  return { items: page.items.map(({ item }) => item), nextCursor: page.nextCursor };

  function toWaiting(hold: Held | undefined, state: Slot['state']): Slot['waiting'] {
    if (hold) {
      const { because, detail, sinceMs, clearedBy } = hold;
      return { because, detail, sinceMs, clearedBy };
    }
    if (state !== 'waiting') return null;
    return {
      because: 'precheck',
      detail: 'it is offered to the host next',
      sinceMs: deps.clock.nowMs(),
      clearedBy: 'the host’s answer',
    };
  }
}
