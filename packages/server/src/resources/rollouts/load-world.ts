import { hitsControlPlane, type OfferView, type SlotView, type World } from '@gpufleet/shared/rollouts';
import type { Db } from '../../db/index.ts';
import { type AttemptRow, type FleetDeps, type FleetView, listAttemptsOfJobs, loadFleet } from '../jobs/index.ts';
import type { LoadedRollout } from './snapshot-store.ts';

/** How long a host that reboots may be away before its contact grace begins. */
const rebootMs = 600_000;

/** What the planner is given: the rollout as stored, the fleet as it is now. */
export async function loadWorld(db: Db, deps: FleetDeps, loaded: LoadedRollout): Promise<World> {
  const { snapshot, slotRows, jobRows } = loaded;
  const fleet = await loadFleet(
    db,
    deps,
    slotRows.map((slot) => slot.hostId),
  );
  const isOpen = (slot: SlotView) => ['waiting', 'granted', 'unknown'].includes(slot.state);
  const openSlots = new Set(snapshot.slots.filter(isOpen).map((slot) => slot.id));
  const openJobs = jobRows.filter((job) => openSlots.has(job.slotId ?? ''));
  const attempts = await listAttemptsOfJobs(
    db,
    openJobs.map((job) => job.id),
  );
  const slotOfJob = new Map(openJobs.map((job) => [job.id, job.slotId ?? '']));
  const pending = attempts.filter((attempt) => attempt.state === 'offered' || attempt.state === 'declined');
  const rebooting = attempts.filter((attempt) => attempt.state === 'granted' && attempt.disruption === 'reboots');
  return {
    ...snapshot,
    nowMs: deps.clock.nowMs(),
    ...withMissingHosts(fleet, snapshot.slots),
    offers: new Map(pending.map((attempt) => toOffer(slotOfJob.get(attempt.jobId) ?? '', attempt, deps))),
    controlPlaneSlots: new Set(slotRows.filter((row) => row.requests.some(hitsControlPlane)).map((row) => row.id)),
    declaredOfflineMs: new Map(rebooting.map((attempt) => [slotOfJob.get(attempt.jobId) ?? '', rebootMs])),
  };
}

function toOffer(slotId: string, attempt: AttemptRow, { gateway, work }: FleetDeps): [string, OfferView] {
  const reasons = attempt.declinedBecause ?? [];
  const session = gateway.sessionEpoch(attempt.hostId);
  return [
    slotId,
    {
      slotId,
      atMs: attempt.offeredAtMs,
      isOpen: session !== undefined && work.offeredIn.get(attempt.id) === session,
      declinedBecause:
        attempt.state === 'declined'
          ? { because: reasons[0]?.because ?? 'declined', detail: reasons.map((reason) => reason.detail).join('; ') }
          : null,
    },
  ];
}

/** A slot whose host is no longer stored is like one whose host is decommissioned. */
function withMissingHosts(fleet: FleetView, slots: readonly SlotView[]): FleetView {
  const { hosts, sites } = fleet;
  for (const { hostId: id, siteId } of slots) {
    if (hosts.has(id)) continue;
    hosts.set(id, {
      id,
      siteId,
      status: 'decommissioned',
      online: false,
      offlineSinceMs: 0,
      busyWith: null,
      clusterId: null,
    });
  }
  for (const { siteId: id } of hosts.values())
    if (!sites.has(id))
      sites.set(id, { id, timezone: 'Etc/UTC', window: null, freezes: [], size: 0, granted: [], unavailable: [] });
  return fleet;
}
