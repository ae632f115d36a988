import { type Kubernetes, type Machine, nowMs } from '../machine.ts';
import { nodeEngine } from '../node-engine.ts';
import { pluginState, sharedBy } from './device-plugin-log.ts';

/** The cluster's answer about this machine's Node object. Devices appear when the device plugin's pod could start. */
export function nodeObject(machine: Machine, kubernetes: Kubernetes): object {
  const gpus = gpuResources(machine);
  const base = {
    cpu: String(
      (machine.files.text('/proc/cpuinfo') ?? '').split('\n').filter((l) => l.startsWith('processor')).length,
    ),
    'ephemeral-storage': '459850824Ki',
    'hugepages-2Mi': '0',
    memory: `${/MemTotal:\s+(\d+) kB/.exec(machine.files.text('/proc/meminfo') ?? '')?.[1] ?? 0}Ki`,
    ...gpus.capacity,
    pods: '110',
  };
  const engine = nodeEngine(machine);
  // The cluster's own, which goes with the cordon.
  const cordon = { effect: 'NoSchedule', key: 'node.kubernetes.io/unschedulable' };
  const taints = [...kubernetes.taints, ...(kubernetes.unschedulable ? [cordon] : [])];
  const created = new Date(machine.boot.atMs - 86_400_000 * 40).toISOString().replace(/\.\d+Z$/, 'Z');
  const beat = new Date(nowMs(machine)).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, status: boolean, reason: string, message: string) => ({
    lastHeartbeatTime: beat,
    lastTransitionTime: created,
    message,
    reason,
    status: status ? 'True' : 'False',
    type,
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      annotations: { 'node.alpha.kubernetes.io/ttl': '0', ...kubernetes.annotations },
      creationTimestamp: created,
      labels: {
        'beta.kubernetes.io/arch': machine.os.arch === 'aarch64' ? 'arm64' : 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': machine.os.arch === 'aarch64' ? 'arm64' : 'amd64',
        'kubernetes.io/hostname': kubernetes.nodeName,
        'kubernetes.io/os': 'linux',
        ...(kubernetes.role === 'control_plane' ? { 'node-role.kubernetes.io/control-plane': 'true' } : {}),
        ...kubernetes.labels,
      },
      name: kubernetes.nodeName,
      resourceVersion: machine.random.digits('node/resourceVersion', 7),
      uid: machine.random.uuid('node/uid'),
    },
    spec: {
      podCIDR: '10.42.0.0/24',
      podCIDRs: ['10.42.0.0/24'],
      ...(taints.length > 0 ? { taints } : {}),
      ...(kubernetes.unschedulable ? { unschedulable: true } : {}),
    },
    status: {
      addresses: [
        { address: '10.0.0.11', type: 'InternalIP' },
        { address: kubernetes.nodeName, type: 'Hostname' },
      ],
      allocatable: { ...base, ...gpus.allocatable },
      capacity: base,
      conditions: [
        condition('MemoryPressure', false, 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        condition('DiskPressure', false, 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', false, 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        engine
          ? condition('Ready', true, 'KubeletReady', 'kubelet is posting ready status')
          : condition('Ready', false, 'KubeletNotReady', 'container runtime is down'),
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      images: [],
      nodeInfo: {
        architecture: machine.os.arch === 'aarch64' ? 'arm64' : 'amd64',
        bootID: machine.boot.id,
        containerRuntimeVersion: engine?.version ?? `containerd://${machine.versions.containerd}`,
        kernelVersion: machine.os.kernel,
        kubeProxyVersion: '',
        kubeletVersion: kubernetes.kubeletVersion,
        machineID: (machine.files.text('/etc/machine-id') ?? '').trim(),
        operatingSystem: 'linux',
        osImage: /PRETTY_NAME="(.*)"/.exec(machine.files.text('/etc/os-release') ?? '')?.[1] ?? 'Linux',
        systemUUID: machine.random.uuid('system-uuid'),
      },
    },
  };
}

/** What the kubelet knows of a plugin that never came up after the last start stays at zero. */
function gpuResources(machine: Machine): { capacity: Record<string, string>; allocatable: Record<string, string> } {
  const plugin = machine.kubernetes?.devicePlugin;
  if (!machine.gpus.length || !plugin) return { capacity: {}, allocatable: {} };
  const isServing = pluginState(machine) === 'running';
  const replicas = sharedBy(machine, plugin);
  const [capacity, allocatable]: Record<string, number>[] = [{}, {}];
  const count = (resource: string, isHealthy: boolean) => {
    for (const [counts, add] of [
      [capacity, true],
      [allocatable, isHealthy],
    ] as const)
      if (counts) counts[resource] = (counts[resource] ?? 0) + (isServing && add ? (replicas[resource] ?? 1) : 0);
  };
  for (const gpu of machine.gpus) {
    const isHealthy = !plugin.unhealthy.some(({ uuid }) => uuid === gpu.uuid);
    const isCut = gpu.mig.current === 'enabled';
    if (!isCut || plugin.migStrategy === 'none') {
      if (!gpu.lost) count('nvidia.com/gpu', isHealthy);
      continue;
    }
    for (const { profile } of gpu.mig.instances)
      count(plugin.migStrategy === 'single' ? 'nvidia.com/gpu' : `nvidia.com/mig-${profile}`, isHealthy);
  }
  const texts = (counts: Record<string, number> = {}) =>
    Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, String(value)]));
  return { capacity: texts(capacity), allocatable: texts(allocatable) };
}

export function runtimeClasses(machine: Machine, kubernetes: Kubernetes): object[] {
  return kubernetes.runtimeClasses.map(({ name, handler }) => ({
    apiVersion: 'node.k8s.io/v1',
    handler,
    kind: 'RuntimeClass',
    metadata: {
      creationTimestamp: new Date(machine.boot.atMs - 86_400_000 * 40).toISOString().replace(/\.\d+Z$/, 'Z'),
      name,
      resourceVersion: machine.random.digits(`runtimeclass/${name}`, 6),
      uid: machine.random.uuid(`runtimeclass/${name}`),
    },
  }));
}
