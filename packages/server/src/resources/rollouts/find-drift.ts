import { toCanonicalJson } from '@gpufleet/shared/core';
import type { Db } from '../../db/index.ts';
import { type FleetDeps, sha256 } from '../jobs/index.ts';
import { makePlan } from './make-plan.ts';
import type { RolloutRow } from './rollout-store.ts';

/**
 * Does the plan still rest on what the hosts report? Compared host by host: who takes part, with which jobs and which
 * plan; which host leads as canary is not asked again. Returns what moved, or undefined.
 */
export async function findDrift(db: Db, deps: FleetDeps, row: RolloutRow): Promise<string | undefined> {
  const { plan: now } = await makePlan(db, deps, row.spec);
  const before = slotKeys(row.plan?.waves ?? []);
  const after = slotKeys(now.waves);
  for (const [hostId, key] of before) {
    const fresh = after.get(hostId);
    if (fresh?.key !== key.key)
      return fresh
        ? `host ${key.hostName} would now be given another plan`
        : `host ${key.hostName} would no longer take part`;
  }
  const added = [...after.values()].find((slot) => !before.has(slot.hostId));
  return added && `host ${added.hostName} would take part as well`;
}

function slotKeys(waves: NonNullable<RolloutRow['plan']>['waves']) {
  return new Map(
    waves
      .flatMap((wave) => wave.slots)
      .map(({ hostId, hostName, requests, preview }) => [
        hostId,
        { hostId, hostName, key: sha256(toCanonicalJson([requests, preview.planHash])) },
      ]),
  );
}
