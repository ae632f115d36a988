import type { Clock } from '@gpufleet/shared/core';
import type { LiveContainerd } from './daemons/containerd.ts';
import type { LiveCrio } from './daemons/crio.ts';
import type { LiveDocker } from './daemons/docker.ts';
import type { LiveK3s } from './daemons/k3s.ts';
import type { LiveMicrok8s } from './daemons/microk8s.ts';
import type { FileTree } from './file-tree.ts';
import type { Driver, SimulatedGpu } from './gpus/gpu.ts';
import type { PackageState } from './package-state.ts';
import type { Seeded } from './seeded.ts';
import type { Unit } from './unit.ts';

/** What changed the machine from outside: the log that tests judge by. */
export type Effect = { atMs: number; ok: boolean } & (
  | { do: 'write' | 'remove'; path: string }
  | { do: 'start' | 'stop' | 'restart' | 'enable' | 'disable'; unit: string }
  | { do: 'cluster'; what: string }
  | { do: 'packages'; what: string }
  | { do: 'mig' | 'mig_instance' | 'gpu_reset'; gpu: string; to: string }
  | { do: 'start_container' | 'stop_container'; container: string }
  | { do: 'power_mode'; to: number }
  | { do: 'modules' | 'nodes'; what: string }
  | { do: 'reboot' | 'power_cut' }
);

export interface Kubernetes {
  nodeName: string;
  role: 'control_plane' | 'worker';
  kubeletVersion: string;
  /** The kubelet's root. */
  kubeletDir: string;
  runtimeClasses: { name: string; handler: string }[];
  labels: Record<string, string>;
  taints: { key: string; value?: string; effect: string }[];
  /** NVIDIA's device plugin in the cluster; null: nobody has deployed it. */
  devicePlugin: DevicePlugin | null;
  /** Data of ConfigMaps by namespace/name. */
  configMaps: Record<string, Record<string, string>>;
  unschedulable: boolean;
  /** Of the Node object. */
  annotations: Record<string, string>;
  /** Pods that the cluster has put, or would put, on this node. */
  pods: SimulatedPod[];
}

export interface SimulatedPod {
  namespace: string;
  name: string;
  /** Kind of what makes it again; null: nothing does. */
  controller: string | null;
  usesGpu: boolean;
  hasEmptyDir: boolean;
  /** Its disruption budget lets it be evicted. */
  mayGo: boolean;
  /** Evicted, and there is no other node that it could go to. */
  isPending: boolean;
  /** How often it was made. */
  runs: number;
}

export interface DevicePlugin {
  namespace: string;
  /** Of its DaemonSet. */
  name: string;
  version: string;
  /** Version of the chart that made it; null: no chart did. */
  chart: string | null;
  runtimeClassName: string | null;
  migStrategy: 'none' | 'single' | 'mixed';
  /** Variables and a selector that it was given besides. */
  env: Record<string, string>;
  nodeSelector: Record<string, string>;
  /** Of its volume. */
  configMap: string | null;
  /** How often its pod was made, and when last; null: with the boot. */
  runs: number;
  startedAtMs: number | null;
  /** Folder of the host that it takes for the kubelet's. */
  hostPath: string;
  /** GPUs that it took out of service, with the Xid that made it. */
  unhealthy: { uuid: string; xid: number }[];
}

/** Everything that is true on one simulated machine. Programs and daemons are functions of it. */
export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Seeded;
  readonly files: FileTree;
  os: { arch: 'x86_64' | 'aarch64'; kernel: string; timezone: string };
  readonly units: Map<string, Unit>;
  /** Ids of the processes of units that run, as /proc shows them. */
  readonly processes: Map<string, number[]>;
  /** Restart pending loops and started daemons carry the boot in which they run. */
  boot: { id: string; atMs: number; atMonotonicMs: number; count: number };
  driver: Driver | null;
  /** NVIDIA's modules, and those of the fabric, that are in the kernel. */
  readonly modules: Set<string>;
  /** What this machine loads at boot by itself, whatever modules-load.d says. */
  readonly modulesOfBoot: Set<string>;
  /** A rule of this machine's own links the nodes of its GPUs in /dev/char at boot. */
  linksNodes: boolean;
  /** Secure Boot takes none of NVIDIA's modules. */
  rejectsModules: boolean;
  gpus: SimulatedGpu[];
  /** Of a Jetson: the mode that the board is in. Its files say what was set last. */
  powerMode: number | null;
  /** PCI addresses of the switches that join the GPUs' NVLinks. */
  nvswitches: string[];
  live: {
    docker: LiveDocker | null;
    containerd: LiveContainerd | null /** Of k3s, or of rke2 which is made alike. */;
    k3s: LiveK3s | null;
    crio: LiveCrio | null;
    microk8s: LiveMicrok8s | null;
  };
  versions: {
    docker: string;
    containerd: string;
    crio: string;
    k3s: string;
    microk8s: string;
    toolkit: string;
    fabricManager: string;
  };
  kubernetes: Kubernetes | null;
  /** Containers that run now; docker's without live-restore die with the daemon and come back with it. */
  containers: number;
  packages: PackageState;
  disk: 'ok' | 'full' | 'read_only';
  network: 'up' | 'down';
  /** A file that takes the way out away when the unit is started with it. */
  cutOffBy: { path: string; unit: string } | null;
  smiHangs: boolean;
  /** nvidia-smi may not change anything; or says that it did, and did not. */
  smiChanges: 'made' | 'denied' | 'pretended';
  /** docker's, by id, with what of them used a GPU. */
  stoppedContainers: Map<string, { minor: number; name: string; usedMiB: number; gpuInstanceId: number | null }[]>;
  /** Units whose next start fails, or hangs, whatever their configuration says. */
  failingUnits: Set<string>;
  hangingUnits: Set<string>;
  effects: Effect[];
  /** While the past is made (installation, boot, the history of a fault): the moment at which things happen. */
  historyMs: number | null;
}

export function nowMs(machine: Machine): number {
  return machine.historyMs ?? machine.clock.nowMs();
}

/** Lets something have happened some time ago, yet never before the boot. */
export function inThePast<T>(machine: Machine, agoMs: number, act: () => T): T {
  const before = machine.historyMs;
  machine.historyMs = Math.max(machine.boot.atMs + 30_000, machine.clock.nowMs() - agoMs);
  try {
    return act();
  } finally {
    machine.historyMs = before;
  }
}

export function uptimeMs(machine: Machine): number {
  return machine.clock.monotonicMs() - machine.boot.atMonotonicMs;
}

/** Programs are found as the shell finds them: the file decides whether a program is there. */
const searchPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export function findProgram(machine: Machine, name: string, path: readonly string[] = searchPath): string | undefined {
  if (name.startsWith('/')) return machine.files.has(name) ? name : undefined;
  return path.map((dir) => `${dir}/${name}`).find((full) => machine.files.has(full));
}
