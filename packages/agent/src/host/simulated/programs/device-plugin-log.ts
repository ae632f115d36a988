import { parseYaml } from '@gpufleet/shared/probes';
import type { DevicePlugin, Machine } from '../machine.ts';
import { nodeEngine } from '../node-engine.ts';

export function pluginPodName(machine: Machine): string {
  const { name, runs } = machine.kubernetes?.devicePlugin ?? { name: '', runs: 1 };
  return `${name}-${machine.random.hex(runs === 1 ? 'plugin/pod-name' : `plugin/pod-name/${runs}`, 5)}`;
}

export function pluginPodUid(machine: Machine): string {
  const runs = machine.kubernetes?.devicePlugin?.runs ?? 1;
  return machine.random.uuid(runs === 1 ? 'plugin/pod' : `plugin/pod/${runs}`);
}

/** The kubelet keeps the log of a pod as long as the pod. */
export function keepPluginLog(machine: Machine): void {
  const { files, kubernetes } = machine;
  files.remove('/var/log/pods');
  if (!kubernetes?.devicePlugin || pluginState(machine) === 'not_scheduled') return;
  const pod = `${kubernetes.devicePlugin.namespace}_${pluginPodName(machine)}_${pluginPodUid(machine)}`;
  files.put(`/var/log/pods/${pod}/nvidia-device-plugin-ctr/0.log`, () => pluginLog(machine));
}

export function pluginStartedAtMs(machine: Machine): number {
  return machine.kubernetes?.devicePlugin?.startedAtMs ?? machine.boot.atMs + 60_000;
}

/**
 * `running`: it sees the GPUs. `blind`: its pod runs under a runtime that gives it none. `not_created`: the handler of
 * its RuntimeClass is not there. `not_scheduled`: no pod of it belongs on this node.
 */
export function pluginState(machine: Machine): 'running' | 'blind' | 'not_created' | 'not_scheduled' | 'none' {
  const { kubernetes } = machine;
  const plugin = kubernetes?.devicePlugin;
  if (!kubernetes || !plugin) return 'none';
  if (!selects(plugin, kubernetes.labels)) return 'not_scheduled';
  const engine = nodeEngine(machine);
  if (engine === null) return 'not_created';
  const handler = kubernetes.runtimeClasses.find(({ name }) => name === plugin.runtimeClassName)?.handler;
  if (plugin.runtimeClassName !== null && (handler === undefined || !engine.handlers.includes(handler)))
    return 'not_created';
  const isNvidia = (handler ?? engine.defaultRuntime).startsWith('nvidia');
  return isNvidia && machine.driver?.loaded === machine.driver?.library ? 'running' : 'blind';
}

/** The chart's affinity: any of three labels, two of which a feature discovery would set. */
export const affinityTerms = [
  { key: 'feature.node.kubernetes.io/pci-10de.present', value: 'true' },
  { key: 'feature.node.kubernetes.io/cpu-model.vendor_id', value: 'NVIDIA' },
  { key: 'nvidia.com/gpu.present', value: 'true' },
] as const;

function selects({ chart, nodeSelector }: DevicePlugin, labels: Record<string, string>): boolean {
  if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) return false;
  return chart === null || affinityTerms.some(({ key, value }) => labels[key] === value);
}

/** The log of the run that began with the boot, in the kubelet's format. */
export function pluginLog(machine: Machine): string {
  const plugin = machine.kubernetes?.devicePlugin;
  if (!plugin) return '';
  const startedAt = new Date(pluginStartedAtMs(machine)).toISOString();
  const stamp = `I${startedAt.slice(5, 7)}${startedAt.slice(8, 10)} ${startedAt.slice(11, 19)}.000000       1`;
  const lines = [
    `${stamp} main.go:235] "Starting NVIDIA Device Plugin" version=<`,
    `\t${machine.random.hex('plugin/commit', 8)}`,
    `\tcommit: ${machine.random.hex('plugin/commit-long', 40)}`,
    ' >',
    `${stamp} main.go:238] Starting FS watcher for /var/lib/kubelet/device-plugins`,
    `${stamp} main.go:245] Starting OS watcher.`,
    `${stamp} main.go:260] Starting Plugins.`,
    `${stamp} main.go:317] Loading configuration.`,
    `${stamp} main.go:342] Updating config with default resource matching patterns.`,
    `${stamp} main.go:353] `,
    'Running with config:',
    ...JSON.stringify(printedConfig(machine, plugin), null, 2).split('\n'),
    `${stamp} main.go:356] Retrieving plugins.`,
    ...(pluginState(machine) === 'blind' ? blindLines(stamp) : servingLines(machine, plugin, stamp)),
  ];
  const prefix = `${startedAt.slice(0, 19)}.000000000Z stderr F `;
  return lines.map((line) => `${prefix}${line}\n`).join('');
}

function servingLines(machine: Machine, plugin: DevicePlugin, stamp: string): string[] {
  const socket = '/var/lib/kubelet/device-plugins/nvidia-gpu.sock';
  return [
    `${stamp} server.go:195] Starting GRPC server for 'nvidia.com/gpu'`,
    `${stamp} server.go:139] Starting to serve 'nvidia.com/gpu' on ${socket}`,
    `${stamp} server.go:146] Registered device plugin for 'nvidia.com/gpu' with Kubelet`,
    ...(machine.gpus.length
      ? [
          `${stamp} health.go:64] Ignoring the following XIDs for health checks: map[13:true 31:true 43:true 45:true 68:true 109:true]`,
        ]
      : []),
    ...plugin.unhealthy.flatMap(({ uuid, xid }) => [
      `${stamp} health.go:156] Processing event {Device:{Handle:0x7f5a} EventType:8 EventData:${xid} GpuInstanceId:4294967295 ComputeInstanceId:4294967295}`,
      `${stamp} health.go:172] XidCriticalError: Xid=${xid} on Device=${uuid}; marking device as unhealthy.`,
      `${stamp} server.go:256] 'nvidia.com/gpu' device marked unhealthy: ${uuid}`,
    ]),
  ];
}

function blindLines(stamp: string): string[] {
  const error = `E${stamp.slice(1)}`;
  return [
    `${error} factory.go:112] Incompatible strategy detected auto`,
    `${error} factory.go:113] If this is a GPU node, did you configure the NVIDIA Container Toolkit?`,
    `${error} factory.go:114] You can check the prerequisites at: https://github.com/NVIDIA/k8s-device-plugin#prerequisites`,
    `${error} factory.go:115] You can learn how to set the runtime at: https://github.com/NVIDIA/k8s-device-plugin#quick-start`,
    `${error} factory.go:116] If this is not a GPU node, you should set up a toleration or nodeSelector to only deploy this plugin on GPU nodes`,
    `${stamp} main.go:381] No devices found. Waiting indefinitely.`,
  ];
}

/** How many times each device is offered. */
export function sharedBy(machine: Machine, plugin: DevicePlugin): Record<string, number> {
  const { timeSlicing } = sharingOf(machine, plugin) as { timeSlicing?: { resources?: object[] } };
  const resources = (timeSlicing?.resources ?? []) as { name: string; replicas: number }[];
  return Object.fromEntries(resources.map(({ name, replicas }) => [name, Number(replicas)]));
}

/** What the file that it is given says of sharing. */
function sharingOf({ kubernetes }: Machine, { namespace, configMap, env }: DevicePlugin): object {
  const key = env.CONFIG_FILE?.split('/').at(-1);
  const text = key && configMap ? kubernetes?.configMaps[`${namespace}/${configMap}`]?.[key] : undefined;
  const parsed = text === undefined ? undefined : parseYaml(text);
  const file = (parsed?.ok ? parsed.value : {}) as { sharing?: { timeSlicing?: object } };
  return file.sharing ?? { timeSlicing: {} };
}

function printedConfig(machine: Machine, plugin: DevicePlugin): object {
  return {
    version: 'v1',
    flags: {
      migStrategy: plugin.migStrategy,
      failOnInitError: false,
      mpsRoot: '/run/nvidia/mps',
      nvidiaDriverRoot: '/',
      nvidiaDevRoot: '/',
      gdsEnabled: false,
      mofedEnabled: false,
      useNodeFeatureAPI: null,
      deviceDiscoveryStrategy: 'auto',
      plugin: {
        passDeviceSpecs: false,
        deviceListStrategy: [plugin.env.DEVICE_LIST_STRATEGY ?? 'envvar'],
        deviceIDStrategy: 'uuid',
        cdiAnnotationPrefix: 'cdi.k8s.io/',
        nvidiaCTKPath: '/usr/bin/nvidia-ctk',
        containerDriverRoot: '/driver-root',
      },
    },
    resources: { gpus: [{ pattern: '*', name: 'nvidia.com/gpu' }] },
    sharing: sharingOf(machine, plugin),
    imex: {},
  };
}
