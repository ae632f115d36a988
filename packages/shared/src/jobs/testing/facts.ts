import type { ContainerdFact, ContainerdLayer } from '../../probes/containerd/fact.ts';
import type { CrioFact, CrioLayer } from '../../probes/crio/fact.ts';
import type { DockerFact } from '../../probes/docker/fact.ts';
import type { ConfigFile, Fact, RuntimeEntry, UnitState } from '../../probes/fact.ts';
import type { Facts } from '../../probes/facts.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { unknownGpu } from '../../probes/gpus/unknown-gpu.ts';
import type { K3sFact } from '../../probes/k3s/fact.ts';
import type { KubeFact } from '../../probes/kube/fact.ts';
import type { MicroK8sFact } from '../../probes/microk8s/fact.ts';
import type { MigBootFact } from '../../probes/mig-boot/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';

const jetsonRest = {
  hasReleaseFile: false,
  jetpackPackage: null,
  powerMode: null,
  powerModes: [],
  csvFiles: null,
  hasRawTable: null,
  rawTableSkippedBy: null,
};

/** When the units of these hosts started. */
export const startedAtMs = 1_750_000_000_000;

export function aFact<T>(value: T): Fact<T> {
  return { readAtMs: startedAtMs, how: [], value, unreadable: null, partial: [] };
}

export function aUnit(name: string, over: Partial<UnitState> = {}): UnitState {
  return {
    name,
    loadState: 'loaded',
    activeState: 'active',
    subState: 'running',
    result: 'success',
    enabled: 'enabled',
    startedAtMs,
    mainPid: 700,
    ...over,
  };
}

export function aFile(path: string, over: Partial<ConfigFile> = {}): ConfigFile {
  return {
    path,
    present: true,
    sha256: `sha of ${path}`,
    mode: 0o644,
    mtimeMs: startedAtMs - 60_000,
    error: null,
    ...over,
  };
}

export function aMissingFile(path: string): ConfigFile {
  return aFile(path, { present: false, sha256: null, mode: null, mtimeMs: null });
}

export function aRuntime(name: string, over: Partial<RuntimeEntry> = {}): RuntimeEntry {
  return { name, binary: null, type: 'io.containerd.runc.v2', systemdCgroup: null, ...over };
}

export const nvidiaBinary = '/usr/bin/nvidia-container-runtime';

export function aToolkit(over: Partial<ToolkitFact> = {}): ToolkitFact {
  return {
    installed: true,
    version: '1.17.8',
    binaries: [{ name: 'nvidia-container-runtime', path: nvidiaBinary, mtimeMs: startedAtMs - 90_000 }],
    configFile: aFile('/etc/nvidia-container-runtime/config.toml'),
    config: {
      mode: 'auto',
      runtimes: ['runc', 'crun'],
      noCgroups: false,
      driverRoot: null,
      ldconfig: '@/sbin/ldconfig',
      disableRequire: false,
      acceptEnvvarWhenUnprivileged: true,
      acceptVolumeMounts: false,
      logLevel: 'info',
      cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'],
    },
    ...over,
  };
}

export const dockerLive: NonNullable<DockerFact['live']> = {
  version: '28.5.2',
  runtimes: ['io.containerd.runc.v2', 'runc'],
  defaultRuntime: 'runc',
  cgroupDriver: 'systemd',
  cdiSpecDirs: [],
  dataRoot: '/var/lib/docker',
  rootless: false,
  containersRunning: 2,
};

export function aDocker(over: Partial<DockerFact> = {}): DockerFact {
  return {
    installed: true,
    binary: '/usr/bin/dockerd',
    unit: aUnit('docker.service'),
    configFile: aMissingFile('/etc/docker/daemon.json'),
    config: null,
    live: dockerLive,
    ...over,
  };
}

export const containerdRoot = '/etc/containerd/config.toml';

export function aLayer(over: Partial<ContainerdLayer> = {}): ContainerdLayer {
  return {
    path: containerdRoot,
    version: 2,
    empty: false,
    hasCri: false,
    runtimes: [],
    defaultRuntime: null,
    enableCdi: null,
    disabledPlugins: [],
    ...over,
  };
}

/** A containerd whose files are the layers; `effective` says what they come to. */
export function aContainerd(
  version: string,
  layers: ContainerdLayer[],
  effective: Partial<NonNullable<ContainerdFact['effective']>> = {},
  over: Partial<ContainerdFact> = {},
): ContainerdFact {
  const root = layers[0];
  const base = {
    imports: [],
    disabledPlugins: [],
    runtimes: [aRuntime('runc')],
    defaultRuntime: 'runc',
    enableCdi: false,
  };
  return {
    installed: true,
    binary: '/usr/bin/containerd',
    version,
    unit: aUnit('containerd.service'),
    files: layers.length > 0 ? layers.map(({ path }) => aFile(path)) : [aMissingFile(containerdRoot)],
    layers,
    rootConfig: root ? { ...base, schema: root.version ?? 1, runtimes: root.runtimes, defaultRuntime: null } : null,
    effective: { ...base, schema: root?.version ?? (root ? 1 : 2), ...effective },
    live: { criReady: true, runtimes: [aRuntime('runc')], defaultRuntime: 'runc' },
    ...over,
  };
}

export function aK3s(over: Partial<K3sFact> = {}): K3sFact {
  return {
    installed: true,
    version: 'v1.33.5+k3s1',
    role: 'server',
    unit: aUnit('k3s.service'),
    dataDir: '/var/lib/rancher/k3s',
    defaultRuntimeSetting: null,
    configFiles: [],
    templates: [],
    renderedFile: aFile('/var/lib/rancher/k3s/agent/etc/containerd/config.toml'),
    rendered: null,
    dropInFolder: null,
    searchPath: [],
    runtimesFound: [],
    lastFatal: null,
    live: { runtimes: [aRuntime('runc')], defaultRuntime: 'runc' },
    ...over,
  };
}

/** A kubeadm worker whose kubelet reads this cgroup driver; null: no Kubernetes. */
export function aKube(cgroupDriver: string | null = null): KubeFact {
  return {
    present: cgroupDriver !== null,
    distribution: cgroupDriver === null ? null : 'kubeadm',
    clusterId: null,
    controlPlane: null,
    rights: null,
    runtimeEndpoint: null,
    kubelet: { rootDir: null, cgroupDriver, sockets: [] },
    node: null,
    runtimeClasses: null,
    pods: null,
    devicePlugin: { daemonSets: null, pods: null, logs: [], configMaps: null },
    operator: null,
    events: null,
  };
}

export const crioRoot = '/etc/crio/crio.conf';

/** A CRI-O whose files are the layers. */
export function aCrio(layers: CrioLayer[] = [], over: Partial<CrioFact> = {}): CrioFact {
  const crun = aRuntime('crun', { type: 'oci', binary: '/usr/bin/crun' });
  const runtimes = new Map([[crun.name, crun]]);
  for (const entry of layers.flatMap((layer) => layer.runtimes)) runtimes.set(entry.name, entry);
  return {
    installed: true,
    version: '1.31.2',
    unit: aUnit('crio.service'),
    files: [aMissingFile(crioRoot), ...layers.map(({ path }) => aFile(path))],
    runtimes: [...runtimes.values()],
    defaultRuntime: layers.findLast((layer) => layer.defaultRuntime !== null)?.defaultRuntime ?? 'crun',
    cgroupManager: 'systemd',
    cdiSpecDirs: null,
    layers,
    model: { name: 'crun', settings: { runtime_root: '/run/crun', monitor_path: '/usr/libexec/crio/conmon' } },
    unreadDropIns: [],
    unreadRuntimes: [],
    live: { runtimes: [crun], defaultRuntime: 'crun' },
    ...over,
  };
}

export const microk8sTemplate = '/var/snap/microk8s/current/args/containerd-template.toml';

export function aMicroK8s(over: Partial<MicroK8sFact> = {}): MicroK8sFact {
  const own = aRuntime('nvidia-container-runtime', { binary: 'nvidia-container-runtime' });
  const config = {
    schema: 2,
    imports: [],
    disabledPlugins: [],
    runtimes: [own, aRuntime('runc')],
    defaultRuntime: '\u0024{RUNTIME}',
    enableCdi: null,
  };
  const running = { runtimes: config.runtimes, defaultRuntime: 'runc' };
  return {
    installed: true,
    version: '1.32.3',
    role: 'server',
    unit: aUnit('snap.microk8s.daemon-containerd.service'),
    template: aFile(microk8sTemplate),
    templateConfig: config,
    renderedFile: aFile('/var/snap/microk8s/current/args/containerd.toml'),
    rendered: { ...config, ...running, enableCdi: false },
    live: running,
    ...over,
  };
}

export function aGpu(index: number, over: Partial<Gpu> = {}): Gpu {
  return {
    ...unknownGpu(index),
    pciBusId: `00000000:${17 + index}:00.0`,
    uuid: `GPU-${index}`,
    name: 'NVIDIA A100-SXM4-40GB',
    serial: null,
    architecture: 'Ampere',
    pciDeviceId: '0x20B010DE',
    memoryTotalMiB: 40_960,
    memoryUsedMiB: 0,
    memoryReservedMiB: null,
    utilisationPercent: 0,
    temperatureC: 30,
    powerDrawW: 50,
    powerLimitW: 400,
    performanceState: 'P0',
    persistenceMode: true,
    throttleReasons: [],
    eccCurrent: true,
    eccPending: true,
    eccUncorrectedVolatile: 0,
    remappedRowsPending: false,
    remappedRowsFailure: false,
    recoveryAction: null,
    virtualisation: null,
    mig: { current: 'disabled', pending: 'disabled', devices: [] },
    processes: [],
    lost: false,
    ...over,
  };
}

export function gpuFacts(gpus: Gpu[], isTegra = false, l4t: string | null = null): Partial<Facts> {
  return {
    gpus: aFact({ driverVersion: '580.65.06', cudaVersion: '13.0', attached: gpus.length, warnings: [], gpus }),
    jetson: aFact({ isTegra, model: null, soc: null, l4t, jetpack: null, ...jetsonRest }),
    gpu_holders: aFact({ holders: [] }),
    mig_boot: aFact(noMigBoot),
  };
}

export const noMigBoot: MigBootFact = {
  layoutFile: aMissingFile('/etc/gpufleet/mig.json'),
  layout: null,
  unitFile: aMissingFile('/etc/systemd/system/gpufleet-mig.service'),
  unitIsCurrent: false,
  enabled: false,
};
