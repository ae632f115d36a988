import type { ClusterView, GrantQuestion, HostView, Reconciliation, SiteView } from './grant-checks.ts';
import { type JobView, jobsOf, type SlotView, type Snapshot } from './snapshot.ts';

/** What was asked of a slot's host last. */
export interface OfferView {
  slotId: string;
  atMs: number;
  /** Sent to the session that still lives, and not answered. */
  isOpen: boolean;
  /** null: not declined. */
  declinedBecause: { because: string; detail: string } | null;
}

/** A rollout and what is outside it: all that the planner may know. */
export interface World extends Snapshot {
  nowMs: number;
  hosts: ReadonlyMap<string, HostView>;
  sites: ReadonlyMap<string, SiteView>;
  clusters: ReadonlyMap<string, ClusterView>;
  offers: ReadonlyMap<string, OfferView>;
  /** Slots whose jobs take their cluster's API away. */
  controlPlaneSlots: ReadonlySet<string>;
  /** How long each granted slot's host may be away by what it does, before `contactGrace` begins; 0 where missing. */
  declaredOfflineMs: ReadonlyMap<string, number>;
  reconciliation: Reconciliation;
}

/** How long an open offer keeps its place before others may have it. */
export const offerTtlMs = 30_000;
/** A host that declined is asked again after this long. */
export const declineRetryMs = 15_000;

export function hostOf(world: World, slot: SlotView): HostView {
  const host = world.hosts.get(slot.hostId);
  if (!host) throw new Error(`the world lacks host ${slot.hostId}`);
  return host;
}

export function siteOf(world: World, host: HostView): SiteView {
  const site = world.sites.get(host.siteId);
  if (!site) throw new Error(`the world lacks site ${host.siteId}`);
  return site;
}

/** The job of the slot that runs or comes next. */
export function nextJob(snapshot: Snapshot, slotId: string): JobView | undefined {
  return jobsOf(snapshot, slotId).find((job) => job.state === 'queued');
}

/** The question that decides about a slot, with further hosts counted as granted at its site. */
export function questionOf(world: World, slot: SlotView, alsoGranted: readonly string[] = []): GrantQuestion {
  const host = hostOf(world, slot);
  const site = siteOf(world, host);
  const cluster = host.clusterId === null ? undefined : world.clusters.get(host.clusterId);
  return {
    nowMs: world.nowMs,
    rollout: world.rollout,
    wave: world.waves.find((wave) => wave.index === slot.waveIndex) ?? null,
    host,
    site: { ...site, granted: [...site.granted, ...alsoGranted] },
    cluster: cluster
      ? { ...cluster, out: [...cluster.out, ...alsoGranted.filter((id) => cluster.servers.includes(id))] }
      : null,
    hitsControlPlane: world.controlPlaneSlots.has(slot.id),
    worstCaseMs: slot.worstCaseMs,
    reconciliation: world.reconciliation,
  };
}
