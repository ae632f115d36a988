import { FleetError } from '@gpufleet/shared/core';
import type { Db } from '../../db/index.ts';
import { signalCommit } from '../../db/index.ts';
import type { AppDeps } from '../../deps.ts';
import type { By } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { insertSlotJobs } from '../jobs/index.ts';
import type { MadePlan } from './make-plan.ts';
import { endUnstarted, findUnstartedByName, loadRollout } from './snapshot-store.ts';
import { rolloutTable, slotTable, waveTable } from './table.ts';

/** Keeps a plan as a rollout that waits for its approval. An older one of the same name that was not started gives way. */
export async function createRollout(tx: Db, deps: AppDeps, made: MadePlan, by: By): Promise<string> {
  const { spec, plan, waves } = made;
  if (waves.length === 0)
    throw new FleetError('empty_plan', 'no host would take part: dryRun=true says why each is left out', {
      leftOut: plan.leftOut.slice(0, 20),
    });
  const atMs = deps.clock.nowMs();
  const id = deps.newId('rollout');
  for (const olderId of await findUnstartedByName(tx, spec.name))
    await endUnstarted(tx, await loadRollout(tx, olderId), {
      state: 'superseded',
      because: 'superseded',
      detail: `rollout ${id} of the same name takes its place`,
      atMs,
    });
  await tx.insert(rolloutTable).values({
    id,
    name: spec.name,
    state: 'planned',
    spec,
    planHash: plan.planHash,
    plan,
    createdBy: by.actor,
    createdAtMs: atMs,
    expiresAtMs: spec.expiresAt === undefined ? null : Date.parse(spec.expiresAt),
    version: 1,
  });
  for (const wave of waves) await insertWave(tx, deps, { rolloutId: id, wave, by, atMs });
  await recordAudit(tx, {
    ...by,
    atMs,
    action: 'rollout.create',
    target: `rollout:${id}`,
    after: { spec, planHash: plan.planHash, slots: waves.reduce((sum, wave) => sum + wave.slots.length, 0) },
  });
  await recordEvent(tx, { atMs, type: 'rollout.planned', rolloutId: id, data: { name: spec.name } });
  signalCommit(tx, 'rollouts', id);
  return id;
}

interface Inserting {
  rolloutId: string;
  wave: MadePlan['waves'][number];
  by: By;
  atMs: number;
}

async function insertWave(tx: Db, deps: AppDeps, { rolloutId, wave, by, atMs }: Inserting): Promise<void> {
  const { index, name, isCanary } = wave;
  await tx.insert(waveTable).values({ rolloutId, index, name, isCanary, state: 'pending' });
  for (const [position, slot] of wave.slots.entries()) {
    const slotId = deps.newId('slot');
    await tx.insert(slotTable).values({
      id: slotId,
      rolloutId,
      waveIndex: index,
      position,
      hostId: slot.hostId,
      siteId: slot.siteId,
      className: slot.className,
      state: 'queued',
      sinceMs: atMs,
      requests: slot.requests,
      planHash: slot.planHash,
      worstCaseMs: slot.previews.reduce((sum, preview) => sum + preview.worstCaseMs, 0),
      version: 1,
    });
    await insertSlotJobs(
      tx,
      // Later jobs stand on what the first leaves behind, so only the first plan can be known ahead.
      slot.requests.map((request, at) => ({
        id: deps.newId('job'),
        hostId: slot.hostId,
        request,
        rolloutId,
        slotId,
        position: at,
        planHash: at === 0 ? slot.planHash : null,
        createdBy: by.actor,
        createdAtMs: atMs,
      })),
    );
  }
}
