import type { HostStatus } from '../api/hosts.ts';
import { isTail, type RolloutView, type WaveView } from './snapshot.ts';
import type { Window } from './spec.ts';
import type { WaitReason } from './states.ts';
import { clusterBudget, siteBudget } from './thresholds.ts';
import { activeFreeze, type FreezeSpan, windowStatus } from './window.ts';

/** A host as the server sees it now. */
export interface HostView {
  id: string;
  siteId: string;
  status: HostStatus;
  /** In session, and has told its open attempts. */
  online: boolean;
  /** null while online. */
  offlineSinceMs: number | null;
  /** Attempt that was granted and has not settled. */
  busyWith: string | null;
  /** Cluster of which it is a server. */
  clusterId: string | null;
}

/** A site and who is out there now. A host in both lists is out once. */
export interface SiteView {
  id: string;
  timezone: string;
  window: Window | null;
  freezes: readonly FreezeSpan[];
  /** Hosts that count. */
  size: number;
  /** Hosts with a granted attempt, unknown ones among them. */
  granted: readonly string[];
  /** Hosts offline or in quarantine. */
  unavailable: readonly string[];
}

/** The servers of one Kubernetes cluster. */
export interface ClusterView {
  id: string;
  servers: readonly string[];
  /** Servers with a granted attempt, offline or in quarantine. */
  out: readonly string[];
}

/** After a start: no grant before the agents with open attempts have told them. */
export interface Reconciliation {
  isDone: boolean;
  /** When waiting for them ends. */
  untilMs: number;
}

export interface GrantQuestion {
  nowMs: number;
  /** null: a job of one host, outside any rollout. */
  rollout: RolloutView | null;
  wave: WaveView | null;
  host: HostView;
  site: SiteView;
  cluster: ClusterView | null;
  /** The jobs of the slot take the cluster's API away while they run. */
  hitsControlPlane: boolean;
  worstCaseMs: number;
  reconciliation: Reconciliation;
}

/** Why a slot does not go on: reason, sentence, what would clear it, and when to look again without any event. */
export interface Hold {
  because: WaitReason;
  detail: string;
  clearedBy: string;
  wakeAtMs: number | null;
}

const activeStates = ['running', 'waiting_window', 'completing'] as const;

export function isActive(rollout: RolloutView): boolean {
  return activeStates.some((state) => state === rollout.state);
}

/** The first reason why a grant may not be made now; undefined: it may. Asked for an offer and again for the grant. */
export function findHold(question: GrantQuestion): Hold | undefined {
  for (const check of checks) {
    const hold = check(question);
    if (hold) return hold;
  }
  return undefined;
}

const checks: readonly ((question: GrantQuestion) => Hold | undefined)[] = [
  checkRollout,
  checkWave,
  checkHost,
  checkReconciliation,
  checkLock,
  checkFreeze,
  checkWindow,
  checkBudget,
  checkCluster,
];

function hold(because: WaitReason, detail: string, clearedBy: string, wakeAtMs: number | null = null): Hold {
  return { because, detail, clearedBy, wakeAtMs };
}

function checkRollout({ rollout, nowMs }: GrantQuestion): Hold | undefined {
  if (!rollout) return undefined;
  if (rollout.expiresAtMs !== null && nowMs >= rollout.expiresAtMs)
    return hold('rollout', 'the rollout has expired', 'a new rollout');
  if (isActive(rollout)) return undefined;
  const why = rollout.becauseDetail === null ? '' : `: ${rollout.becauseDetail}`;
  return hold('rollout', `the rollout is ${rollout.state}${why}`, clearingOf(rollout));
}

function clearingOf({ state }: RolloutView): string {
  if (state === 'planned' || state === 'awaiting_approval') return 'approval of the plan';
  if (state === 'approved' || state === 'scheduled') return 'the start of the rollout';
  if (state === 'paused' || state === 'halted') return 'resuming the rollout';
  return 'a new rollout';
}

function checkWave({ wave }: GrantQuestion): Hold | undefined {
  if (!wave || wave.state === 'open') return undefined;
  if (isTail(wave)) return hold('wave', 'the lane of deferred hosts is closed', 'a new rollout');
  return wave.state === 'pending'
    ? hold('wave', `wave ${wave.index} (${wave.name}) is not open yet`, 'the wave before it passes')
    : hold('wave', `wave ${wave.index} (${wave.name}) is ${wave.state}`, 'the wave opens again');
}

function checkHost({ host }: GrantQuestion): Hold | undefined {
  if (host.status !== 'accepted')
    return hold(
      'policy',
      `the host is ${host.status}`,
      host.status === 'quarantined' ? 'lifting the quarantine' : 'accepting the host',
    );
  return host.online ? undefined : hold('offline', 'the host is offline', 'the host comes back');
}

function checkReconciliation({ reconciliation, nowMs }: GrantQuestion): Hold | undefined {
  if (reconciliation.isDone || nowMs >= reconciliation.untilMs) return undefined;
  return hold(
    'dependency',
    'the server has started and waits for hosts with open attempts to tell of them',
    'they come back, or a time limit passes',
    reconciliation.untilMs,
  );
}

function checkLock({ host }: GrantQuestion): Hold | undefined {
  if (host.busyWith === null) return undefined;
  return hold('lock', `attempt ${host.busyWith} runs on the host`, 'that attempt settles');
}

function checkFreeze({ site, nowMs }: GrantQuestion): Hold | undefined {
  const freeze = activeFreeze(site.freezes, nowMs);
  if (!freeze) return undefined;
  return hold('freeze', `site ${site.id} is frozen: ${freeze.reason}`, 'the freeze ends', freeze.toMs);
}

function checkWindow({ rollout, site, nowMs, worstCaseMs }: GrantQuestion): Hold | undefined {
  const window = rollout ? (rollout.policy.window ?? site.window) : null;
  if (!window) return undefined;
  const status = windowStatus(window, site.timezone, nowMs);
  const name = `${window.from}–${window.to}`;
  if (!status.open)
    return hold('window', `the window ${name} of ${site.id} is closed`, 'the window opens', status.opensAtMs);
  if (nowMs + worstCaseMs <= status.closesAtMs) return undefined;
  return hold(
    'window',
    `up to ${Math.ceil(worstCaseMs / 60_000)} min of work do not fit in what is left of the window ${name}`,
    'the next window',
    status.closesAtMs,
  );
}

function checkBudget({ rollout, host, site }: GrantQuestion): Hold | undefined {
  if (!rollout) return undefined;
  const budget = siteBudget(site.size, rollout.policy.budget);
  const out = new Set([...site.granted, ...site.unavailable]);
  // A host that is out already takes nothing more by its own repair.
  if (out.has(host.id) || out.size < budget) return undefined;
  const unavailable = new Set(site.unavailable).size;
  return unavailable >= budget
    ? hold(
        'budget',
        `blocked: ${unavailable} offline at ${site.id}, ${budget} may be out`,
        'an offline host comes back or is decommissioned',
      )
    : hold('budget', `${out.size} of ${budget} hosts are out at ${site.id}`, 'one of them settles');
}

function checkCluster({ rollout, host, cluster, hitsControlPlane }: GrantQuestion): Hold | undefined {
  if (!cluster || !hitsControlPlane) return undefined;
  const quorum = clusterBudget(cluster.servers.length);
  // A job of one host was asked for by name: that is the acknowledgement.
  if (quorum === 0 && rollout && !rollout.policy.allowControlPlaneDowntime)
    return hold(
      'policy',
      `the cluster has ${cluster.servers.length} server(s): its API would be away`,
      'a rollout with strategy.allowControlPlaneDowntime',
    );
  const budget = Math.max(1, quorum);
  const out = new Set(cluster.out);
  if (out.has(host.id) || out.size < budget) return undefined;
  return hold('budget', `${out.size} of ${budget} servers of the cluster are out`, 'one of them comes back');
}
