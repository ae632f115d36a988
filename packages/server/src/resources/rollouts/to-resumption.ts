import type { ResumeRollout } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { Disposition, Resumption } from '@gpufleet/shared/rollouts';
import type { Db } from '../../db/index.ts';
import { namesOfHosts } from './host-names.ts';
import { listSlotRows } from './rollout-store.ts';

/** Slots may be named by their id, their host's id or its name. */
export async function toResumption(tx: Db, rolloutId: string, body: ResumeRollout): Promise<Resumption> {
  if (body.dispositions.length === 0) return { dispositions: new Map(), disposition: body.disposition };
  const slots = await listSlotRows(tx, rolloutId);
  const names = await namesOfHosts(
    tx,
    slots.map((slot) => slot.hostId),
  );
  const dispositions = new Map<string, Disposition>();
  for (const { slot: named, disposition } of body.dispositions) {
    const slot = slots.find(({ id, hostId }) => id === named || hostId === named || names.get(hostId) === named);
    if (!slot) throw new FleetError('bad_disposition', `the rollout has no slot ${named}`, { slot: named });
    dispositions.set(slot.id, disposition);
  }
  return { dispositions, disposition: body.disposition };
}
