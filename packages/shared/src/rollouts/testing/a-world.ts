import type { HostView, SiteView } from '../grant-checks.ts';
import type { Policy } from '../policy.ts';
import type { JobView, SlotView, Snapshot, WaveView } from '../snapshot.ts';
import type { SlotState } from '../states.ts';
import type { World } from '../world.ts';

export function aPolicy(fields: Partial<Policy> = {}): Policy {
  return {
    failure: { percent: 10, max: 3 },
    budget: { percent: 100, max: 50 },
    soakMs: 0,
    deferAfterMs: 300_000,
    catchUpMs: 3_600_000,
    contactGraceMs: 120_000,
    gate: 'automatic',
    offline: 'defer',
    window: null,
    allowControlPlaneDowntime: false,
    ...fields,
  };
}

export function aWave(fields: Partial<WaveView> = {}): WaveView {
  return {
    index: 0,
    name: 'site-a',
    state: 'open',
    isCanary: false,
    openedAtMs: 0,
    soakUntilMs: null,
    endedAtMs: null,
    ...fields,
  };
}

export function aSlot(id: string, state: SlotState = 'waiting', fields: Partial<SlotView> = {}): SlotView {
  return {
    id,
    waveIndex: 0,
    position: 0,
    hostId: `host-${id}`,
    siteId: 'site-a',
    state,
    because: null,
    detail: null,
    sinceMs: 0,
    disposition: null,
    worstCaseMs: 60_000,
    ...fields,
  };
}

export function aHost(id: string, fields: Partial<HostView> = {}): HostView {
  return {
    id,
    siteId: 'site-a',
    status: 'accepted',
    online: true,
    offlineSinceMs: null,
    busyWith: null,
    clusterId: null,
    ...fields,
  };
}

export function aSite(fields: Partial<SiteView> = {}): SiteView {
  return {
    id: 'site-a',
    timezone: 'Etc/UTC',
    window: null,
    freezes: [],
    size: 10,
    granted: [],
    unavailable: [],
    ...fields,
  };
}

const jobStateOf = {
  granted: 'running',
  unknown: 'unknown',
  waiting: 'queued',
  queued: 'queued',
  deferred: 'queued',
} as const;

/** One queued job for each slot, in the state that goes with the slot's. */
export function jobsFor(slots: readonly SlotView[]): JobView[] {
  return slots.map((slot) => ({
    id: `job-${slot.id}`,
    slotId: slot.id,
    position: 0,
    state:
      slot.state in jobStateOf
        ? jobStateOf[slot.state as keyof typeof jobStateOf]
        : slot.state === 'skipped' || slot.state === 'superseded'
          ? 'canceled'
          : (slot.state as JobView['state']),
  }));
}

export function aSnapshot(slots: SlotView[], fields: Partial<Snapshot> & { policy?: Partial<Policy> } = {}): Snapshot {
  const { policy, ...rest } = fields;
  return {
    rollout: {
      id: 'rollout-1',
      state: 'running',
      because: null,
      becauseDetail: null,
      policy: aPolicy(policy),
      expiresAtMs: null,
      catchUpUntilMs: null,
      startedAtMs: 0,
      endedAtMs: null,
    },
    waves: [aWave()],
    slots,
    jobs: jobsFor(slots),
    ...rest,
  };
}

/** A world in which every slot's host is online unless given otherwise. */
export function aWorld(
  snapshot: Snapshot,
  fields: Partial<Omit<World, keyof Snapshot | 'hosts' | 'sites'>> & { hosts?: HostView[]; sites?: SiteView[] } = {},
): World {
  const { hosts = [], sites = [aSite()], ...rest } = fields;
  const all = [...snapshot.slots.map((slot) => aHost(slot.hostId, { siteId: slot.siteId })), ...hosts];
  return {
    ...snapshot,
    nowMs: 1_000,
    hosts: new Map(all.map((host) => [host.id, host])),
    sites: new Map(sites.map((site) => [site.id, site])),
    clusters: new Map(),
    offers: new Map(),
    controlPlaneSlots: new Set(),
    declaredOfflineMs: new Map(),
    reconciliation: { isDone: true, untilMs: 0 },
    ...rest,
  };
}
