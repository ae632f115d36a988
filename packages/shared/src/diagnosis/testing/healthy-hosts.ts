import type { RuntimeEntry } from '../../probes/fact.ts';
import type { FactValue, ProbeKey } from '../../probes/facts.ts';
import { aBus, modulesOnDisk, noDriver, nodesOfOneGpu, noNodes, plainSystem } from './driver-parts.ts';
import { healthySystem } from './healthy-system.ts';
import { aConfig, aFile, aGpu, aMigDevice, aUnit, earlierMs, noFile, nvidia, runc, startedAtMs } from './parts.ts';

export type HostKind =
  | 'x86_docker'
  | 'x86_containerd'
  | 'k3s_server'
  | 'k3s_agent'
  | 'mig'
  | 'orin'
  | 'thor'
  | 'no_gpu';

type Given = 'os' | 'pci' | 'jetson' | 'driver' | 'gpus' | 'toolkit' | 'docker' | 'containerd' | 'k3s' | 'kube';

/** What most rules look at; a fact that is not given here was not read. */
export type Values = { [K in Given]: FactValue<K> } & { [K in ProbeKey]?: FactValue<K> };

const noJetsonParts = {
  hasReleaseFile: false,
  jetpackPackage: null,
  powerMode: null,
  powerModes: [],
  csvFiles: null,
  hasRawTable: null,
  rawTableSkippedBy: null,
};

const dockerNvidia: RuntimeEntry = {
  name: 'nvidia',
  binary: 'nvidia-container-runtime',
  type: null,
  systemdCgroup: null,
};

/** What a k3s that runs says beside its containerd. */
const aK3s = {
  dataDir: '/var/lib/rancher/k3s',
  dropInFolder: null,
  searchPath: [],
  runtimesFound: [],
  lastFatal: null,
};

/** Kubernetes without a device plugin. */
const aKube = {
  distribution: null,
  rights: null,
  kubelet: { rootDir: null, cgroupDriver: null, sockets: [] },
  devicePlugin: { daemonSets: null, pods: null, logs: [], configMaps: null },
  operator: null,
  events: null,
};

const migGpu = aGpu({
  name: 'NVIDIA A100-SXM4-80GB',
  pciDeviceId: '0x20B210DE',
  mig: {
    current: 'enabled',
    pending: 'enabled',
    devices: [
      aMigDevice(0, { gpuInstanceId: 1, memoryMiB: 40_192, profile: '3g.40gb', uuid: 'MIG-a' }),
      aMigDevice(1, { gpuInstanceId: 2, memoryMiB: 40_192, profile: '3g.40gb', uuid: 'MIG-b' }),
    ],
  },
});

function x86(): Values {
  return {
    os: {
      id: 'ubuntu',
      versionId: '24.04',
      bootedAtMs: 0,
      prettyName: 'Ubuntu 24.04.1 LTS',
      hostname: 'host-1',
      kernel: '6.8.0-45-generic',
      arch: 'x86_64',
      memoryTotalMiB: 128_000,
      cpuCount: 32,
      insideContainer: false,
      ...plainSystem,
    },
    ...healthySystem,
    pci: aBus({ address: '0000:65:00.0', deviceId: '27b8', classCode: '030200' }),
    jetson: { isTegra: false, model: null, soc: null, l4t: null, jetpack: null, ...noJetsonParts },
    driver: {
      modules: ['nvidia', 'nvidia_modeset', 'nvidia_uvm'],
      loadedVersion: '580.95.05',
      flavour: 'open',
      onDiskVersion: '580.95.05',
      libraryVersion: '580.95.05',
      libraryPath: '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1',
      hasNvidiaSmi: true,
      ...modulesOnDisk,
    },
    kernel_log: { events: [], from: 'journal', beginsAtBoot: true },
    device_nodes: nodesOfOneGpu,
    gpus: { driverVersion: '580.95.05', cudaVersion: '13.0', attached: 1, warnings: [], gpus: [aGpu()] },
    gpu_holders: { holders: [] },
    fabric: {
      nvswitches: [],
      nvlink5: false,
      managerVersion: null,
      managerUnit: null,
      gpus: [],
      nvlinks: [],
      infinibandModules: [],
    },
    toolkit: {
      installed: true,
      version: '1.17.9',
      binaries: ['nvidia-container-runtime', 'nvidia-container-runtime-hook', 'nvidia-ctk'].map((name) => ({
        name,
        path: `/usr/bin/${name}`,
        mtimeMs: earlierMs,
      })),
      configFile: aFile('/etc/nvidia-container-runtime/config.toml'),
      config: {
        mode: 'auto',
        runtimes: ['runc', 'crun'],
        noCgroups: false,
        driverRoot: null,
        ldconfig: '@/sbin/ldconfig.real',
        disableRequire: false,
        acceptEnvvarWhenUnprivileged: true,
        acceptVolumeMounts: false,
        logLevel: 'info',
        cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'],
      },
    },
    docker: {
      installed: false,
      binary: null,
      unit: null,
      configFile: noFile('/etc/docker/daemon.json'),
      config: null,
      live: null,
    },
    containerd: {
      installed: false,
      binary: null,
      version: null,
      unit: null,
      files: [noFile('/etc/containerd/config.toml')],
      rootConfig: null,
      effective: null,
      live: null,
    },
    k3s: {
      installed: false,
      version: null,
      role: null,
      unit: null,
      defaultRuntimeSetting: null,
      configFiles: [],
      templates: [],
      renderedFile: noFile('/var/lib/rancher/k3s/agent/etc/containerd/config.toml'),
      rendered: null,
      live: null,
      ...aK3s,
      dataDir: null,
    },
    kube: {
      ...aKube,
      present: false,
      clusterId: null,
      controlPlane: null,
      runtimeEndpoint: null,
      node: null,
      runtimeClasses: null,
    },
  };
}

function withDocker(values: Values): Values {
  return {
    ...values,
    docker: {
      installed: true,
      binary: '/usr/bin/dockerd',
      unit: aUnit('docker.service'),
      configFile: aFile('/etc/docker/daemon.json'),
      config: { runtimes: [dockerNvidia], defaultRuntime: null, cdi: null, dataRoot: null, liveRestore: null },
      live: {
        version: '28.5.2',
        runtimes: ['io.containerd.runc.v2', 'nvidia', 'runc'],
        defaultRuntime: 'runc',
        cgroupDriver: 'systemd',
        cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'],
        dataRoot: '/var/lib/docker',
        rootless: false,
        containersRunning: 3,
      },
    },
    // Docker's own containerd: without CRI, as its package ships it.
    containerd: {
      ...values.containerd,
      installed: true,
      binary: '/usr/bin/containerd',
      version: '2.1.9',
      unit: aUnit('containerd.service'),
      files: [aFile('/etc/containerd/config.toml')],
      rootConfig: aConfig([], { schema: 1, disabledPlugins: ['cri'] }),
      effective: aConfig([runc], { schema: 1, disabledPlugins: ['cri'] }),
      live: { criReady: false, runtimes: null, defaultRuntime: null },
    },
  };
}

const aNode: NonNullable<FactValue<'kube'>['node']> = {
  name: 'host-1',
  ready: true,
  unschedulable: false,
  labels: { 'kubernetes.io/arch': 'amd64' },
  taints: [],
  capacity: { 'nvidia.com/gpu': '1' },
  allocatable: { 'nvidia.com/gpu': '1' },
  containerRuntimeVersion: 'containerd://1.7.24',
  kubeletVersion: 'v1.31.4',
};

const nvidiaClass = { name: 'nvidia', handler: 'nvidia' };

export const healthy: Record<HostKind, () => Values> = {
  x86_docker: () => withDocker(x86()),
  x86_containerd: () => ({
    ...x86(),
    containerd: {
      installed: true,
      binary: '/usr/bin/containerd',
      version: '1.7.24',
      unit: aUnit('containerd.service'),
      files: [aFile('/etc/containerd/config.toml')],
      rootConfig: aConfig([nvidia, runc]),
      effective: aConfig([nvidia, runc]),
      live: { criReady: true, runtimes: [nvidia, runc], defaultRuntime: 'runc' },
    },
    kube: {
      ...aKube,
      distribution: 'kubeadm',
      rights: 'admin',
      present: true,
      clusterId: 'c1'.repeat(32),
      controlPlane: true,
      runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
      node: aNode,
      runtimeClasses: [nvidiaClass],
    },
  }),
  k3s_server: () => withK3s('server'),
  k3s_agent: () => withK3s('agent'),
  mig: () => ({
    ...withDocker(x86()),
    pci: aBus({ address: '0000:65:00.0', deviceId: '20b2', classCode: '030200' }),
    gpus: { driverVersion: '580.95.05', cudaVersion: '13.0', attached: 1, warnings: [], gpus: [migGpu] },
  }),
  orin: () => {
    const values = withDocker(x86());
    return {
      ...values,
      pci: aBus(),
      jetson: {
        isTegra: true,
        model: 'NVIDIA Jetson AGX Orin Developer Kit',
        soc: 'tegra234',
        l4t: '36.4.7',
        jetpack: '6.2.1',
        ...noJetsonParts,
        hasReleaseFile: true,
        hasRawTable: true,
      },
      driver: {
        ...values.driver,
        modules: ['nvgpu', 'nvidia'],
        loadedVersion: '540.4.0',
        flavour: 'nvgpu',
        onDiskVersion: '540.4.0',
        libraryVersion: null,
        libraryPath: null,
      },
      gpus: {
        driverVersion: '540.4.0',
        cudaVersion: '12.6',
        attached: 1,
        warnings: [],
        gpus: [
          aGpu({
            pciBusId: null,
            uuid: null,
            name: 'Orin (nvgpu)',
            remappedRowsPending: null,
            remappedRowsFailure: null,
            eccUncorrectedVolatile: null,
          }),
        ],
      },
    };
  },
  thor: () => {
    const values = withDocker(x86());
    return {
      ...values,
      pci: aBus({ address: '0000:01:00.0', deviceId: '2b00', classCode: '030000' }),
      jetson: {
        isTegra: true,
        model: 'NVIDIA Jetson AGX Thor Developer Kit',
        soc: 'tegra264',
        l4t: '38.4.0',
        jetpack: '7.1',
        ...noJetsonParts,
        hasReleaseFile: true,
        hasRawTable: true,
      },
      gpus: {
        driverVersion: '580.00',
        cudaVersion: '13.0',
        attached: 1,
        warnings: [],
        gpus: [
          aGpu({
            pciBusId: '00000000:01:00.0',
            name: 'NVIDIA Thor',
            mig: { current: 'disabled', pending: 'disabled', devices: [] },
          }),
        ],
      },
    };
  },
  no_gpu: () => {
    const values = withDocker(x86());
    return {
      ...values,
      pci: aBus(),
      driver: noDriver,
      device_nodes: noNodes,
      gpus: { driverVersion: null, cudaVersion: null, attached: 0, warnings: [], gpus: [] },
      toolkit: {
        ...values.toolkit,
        installed: false,
        version: null,
        binaries: [],
        configFile: noFile('/etc/nvidia-container-runtime/config.toml'),
      },
      docker: {
        ...values.docker,
        config: null,
        configFile: noFile('/etc/docker/daemon.json'),
        live: values.docker.live && { ...values.docker.live, runtimes: ['runc'] },
      },
    };
  },
};

function withK3s(role: 'server' | 'agent'): Values {
  const unit = role === 'server' ? 'k3s.service' : 'k3s-agent.service';
  return {
    ...x86(),
    k3s: {
      ...aK3s,
      installed: true,
      version: 'v1.32.5+k3s1',
      role,
      unit: aUnit(unit),
      defaultRuntimeSetting: null,
      configFiles: [],
      templates: [],
      renderedFile: aFile('/var/lib/rancher/k3s/agent/etc/containerd/config.toml', { mtimeMs: startedAtMs }),
      rendered: aConfig([nvidia, runc], { schema: 3 }),
      live: { runtimes: [nvidia, runc], defaultRuntime: 'runc' },
    },
    kube: {
      ...aKube,
      distribution: 'k3s',
      rights: role === 'server' ? 'admin' : 'none',
      present: true,
      clusterId: 'c2'.repeat(32),
      controlPlane: role === 'server',
      runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
      node: role === 'server' ? { ...aNode, containerRuntimeVersion: 'containerd://2.0.5-k3s1' } : null,
      runtimeClasses: role === 'server' ? [nvidiaClass] : null,
    },
  };
}
