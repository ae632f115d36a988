import type { FaultSpec, SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';

/** The demo's fleet: 24 hosts at four sites, most of them with a fault that people report every week. */
export interface PlannedHost {
  name: string;
  site: string;
  /** Class of simulated host. */
  class: SimulatedClass;
  faults: FaultSpec[];
  labels: Record<string, string>;
}

export const sites = [
  { id: 'site-a', timezone: 'Europe/Berlin', name: 'Plant A' },
  { id: 'site-b', timezone: 'America/Chicago', name: 'Warehouse B' },
  { id: 'site-c', timezone: 'Asia/Tokyo', name: 'Lab C' },
  { id: 'site-d', timezone: 'Australia/Sydney', name: 'Quarry D' },
] as const;

const unconfigured = 'containerd_runtime_not_configured';
/** Its containerd comes back from a restart without the runtime: the host whose repair fails in the story. */
export const stubbornHost = 'site-c-containerd2-1';
export const stubbornFault: FaultSpec = 'containerd_drops_runtime';

const perSite: Record<
  (typeof sites)[number]['id'],
  readonly (readonly [name: string, hostClass: SimulatedClass, ...faults: FaultSpec[]])[]
> = {
  'site-a': [
    ['containerd17-1', 'x86-containerd-1.7', unconfigured],
    ['containerd2-1', 'x86-containerd-2', unconfigured],
    ['docker-1', 'x86-docker', 'docker_restart_pending'],
    ['k3s-server-1', 'k3s-server'],
    ['orin-1', 'orin', 'docker_runtime_not_configured'],
    ['a100-1', 'a100-mig', 'mig_change_pending'],
  ],
  'site-b': [
    ['containerd17-1', 'x86-containerd-1.7', unconfigured],
    ['containerd2-1', 'x86-containerd-2', unconfigured],
    ['docker-1', 'x86-docker', 'docker_restart_pending'],
    ['k3s-agent-1', 'k3s-agent', 'k3s_restart_pending'],
    ['orin-1', 'orin', 'docker_runtime_not_configured'],
    ['a100-1', 'a100-mig', 'mig_change_pending'],
  ],
  'site-c': [
    ['containerd17-1', 'x86-containerd-1.7', unconfigured],
    ['containerd2-1', 'x86-containerd-2', unconfigured, stubbornFault],
    ['k3s-server-1', 'k3s-server', 'k3s_restart_pending'],
    ['thor-1', 'thor', 'docker_runtime_not_configured'],
    ['a100-1', 'a100-mig', 'mig_change_pending'],
    ['plain-1', 'no-gpu'],
  ],
  'site-d': [
    ['containerd17-1', 'x86-containerd-1.7', unconfigured],
    ['containerd2-1', 'x86-containerd-2', unconfigured],
    ['docker-1', 'x86-docker', 'docker_restart_pending'],
    ['k3s-agent-1', 'k3s-agent', 'k3s_restart_pending'],
    ['h100-1', 'h100-mig'],
    ['rke2-server-1', 'rke2-server'],
  ],
};

export const fleetPlan: readonly PlannedHost[] = sites.flatMap(({ id }) =>
  perSite[id].map(([name, hostClass, ...faults]) => ({
    name: `${id}-${name}`,
    site: id,
    class: hostClass,
    faults,
    labels: { class: hostClass, env: name.startsWith('k3s') ? 'cluster' : 'edge' },
  })),
);
