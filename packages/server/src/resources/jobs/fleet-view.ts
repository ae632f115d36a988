import type { ClusterView, HostView, Reconciliation, SiteView } from '@gpufleet/shared/rollouts';
import { inArray } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import type { AppDeps } from '../../deps.ts';
import { hostTable } from '../hosts/table.ts';
import { listSiteRows, type SiteRow } from '../sites/index.ts';
import { listGrantedAttempts } from './attempt-store.ts';

/** Hosts, sites and clusters as they are now: what is stored, and what the gateway knows of the living. */
export interface FleetView {
  hosts: Map<string, HostView>;
  sites: Map<string, SiteView>;
  clusters: Map<string, ClusterView>;
  reconciliation: Reconciliation;
}

export type FleetDeps = Pick<AppDeps, 'gateway' | 'clock' | 'config' | 'work'>;

interface FleetHost {
  id: string;
  siteId: string;
  status: HostView['status'];
  class: (typeof hostTable.$inferSelect)['class'];
  lastSeenAtMs: number | null;
}

/** The named hosts, their sites, and every other host of those sites. */
export async function loadFleet(db: Db, deps: FleetDeps, hostIds: readonly string[]): Promise<FleetView> {
  const granted = await listGrantedAttempts(db);
  const named = await selectHosts(db, 'id', hostIds);
  const siteIds = [...new Set(named.map((host) => host.siteId))];
  const neighbours = await selectHosts(db, 'siteId', siteIds);
  const rows = [...new Map([...named, ...neighbours].map((host) => [host.id, host])).values()];
  const busy = new Map(granted.map((attempt) => [attempt.hostId, attempt.id]));
  const hosts = new Map(rows.map((row) => [row.id, toHostView(row, deps, busy.get(row.id) ?? null)]));
  const sites = (await listSiteRows(db)).filter((site) => siteIds.includes(site.id));
  return {
    hosts,
    sites: new Map(sites.map((site) => [site.id, toSiteView(site, [...hosts.values()])])),
    clusters: toClusters([...hosts.values()]),
    reconciliation: {
      isDone: granted.every((attempt) => deps.gateway.hasReconciled(attempt.hostId)),
      untilMs: deps.work.startedAtMs + deps.config.reconcileAfterMs,
    },
  };
}

async function selectHosts(db: Db, by: 'id' | 'siteId', values: readonly string[]): Promise<FleetHost[]> {
  const rows: FleetHost[] = [];
  for (let at = 0; at < values.length; at += 500)
    rows.push(
      ...(await db
        .select({
          id: hostTable.id,
          siteId: hostTable.siteId,
          status: hostTable.status,
          class: hostTable.class,
          lastSeenAtMs: hostTable.lastSeenAtMs,
        })
        .from(hostTable)
        .where(inArray(hostTable[by], values.slice(at, at + 500)))),
    );
  return rows;
}

function toHostView(row: FleetHost, deps: FleetDeps, busyWith: string | null): HostView {
  const { gateway } = deps;
  const online = gateway.isOnline(row.id) && gateway.hasReconciled(row.id);
  return {
    id: row.id,
    siteId: row.siteId,
    status: row.status,
    online,
    offlineSinceMs: online ? null : offlineSince(row, deps),
    busyWith,
    clusterId: row.class.kubernetesRole === 'server' ? row.class.clusterId : null,
  };
}

/** By the monotonic clock where this process heard of the host; nobody is away for longer than this process looks. */
function offlineSince(row: FleetHost, { gateway, clock, work }: FleetDeps): number {
  const heardMs = gateway.lastHeardMonotonicMs(row.id);
  if (heardMs !== undefined) return clock.nowMs() - (clock.monotonicMs() - heardMs);
  return Math.max(row.lastSeenAtMs ?? 0, work.startedAtMs);
}

function counts(host: HostView): boolean {
  return host.status === 'accepted' || host.status === 'quarantined';
}

function isUnavailable(host: HostView): boolean {
  return counts(host) && (!host.online || host.status === 'quarantined');
}

function toSiteView(site: SiteRow, hosts: readonly HostView[]): SiteView {
  const here = hosts.filter((host) => host.siteId === site.id);
  return {
    id: site.id,
    timezone: site.timezone,
    window: site.window,
    freezes: site.freezes.map(({ from, to, reason }) => ({ fromMs: Date.parse(from), toMs: Date.parse(to), reason })),
    size: here.filter(counts).length,
    // A decommissioned host is nobody's business any more, whatever it was granted.
    granted: here.filter((host) => counts(host) && host.busyWith !== null).map((host) => host.id),
    unavailable: here.filter(isUnavailable).map((host) => host.id),
  };
}

function toClusters(hosts: readonly HostView[]): Map<string, ClusterView> {
  const clusters = new Map<string, { id: string; servers: string[]; out: string[] }>();
  for (const host of hosts) {
    if (host.clusterId === null || !counts(host)) continue;
    const cluster = clusters.get(host.clusterId) ?? { id: host.clusterId, servers: [], out: [] };
    cluster.servers.push(host.id);
    if (host.busyWith !== null || isUnavailable(host)) cluster.out.push(host.id);
    clusters.set(host.clusterId, cluster);
  }
  return clusters;
}
