import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { isWell, marks } from './device-plugin-gpu-unhealthy.ts';
import { isGpuResource, type Kube, offersGpus } from './device-plugin-parts.ts';

export const devicePluginOffersNothing = defineRule({
  code: 'DEVICE_PLUGIN_GPU_UNHEALTHY',
  layer: 'kubernetes',
  severity: 'degraded',
  title:
    'The device plugin runs on this node and is ready, its log has no complaint, every GPU answers, and the node offers none: it has to register anew',
  notWhen:
    'the node offers GPUs, whole or cut; the plugin started less than two minutes ago; its log marks GPUs unhealthy (told with them); a GPU shows a fault',
  proposes: ['deploy_device_plugin'],
  needs: ['kube', 'gpus', 'kernel_log'],
  searches: ['gpus'],
  // A GPU of which the rest was not told is not known to be well.
  missesIn: ['gpus'],
  consequenceOf: [
    'MIG_NO_INSTANCES',
    'MIG_STRATEGY_MISMATCH',
    'KUBELET_PLUGIN_SOCKET_MISMATCH',
    'DEVICE_PLUGIN_WITHOUT_NVIDIA_RUNTIME',
    'GPU_OFF_BUS',
    'GPU_XID_RESET_REQUIRED',
    'DRIVER_LIBRARY_MISMATCH',
  ],
  excludedBy: ({ kube }) => kube !== null && idlePod(kube) === null,
  check({ kube, gpus, kernel_log: log }) {
    const pod = idlePod(kube);
    const { node } = kube;
    if (pod === null || node === null) return [];
    const well = gpus.gpus.filter((gpu) => isWell(gpu, log));
    if (well.length === 0 || well.length < gpus.gpus.length) return [];
    const counts = Object.keys(node.capacity).filter(isGpuResource);
    const offered = counts.map(
      (name) => `${name}: capacity ${node.capacity[name]}, allocatable ${node.allocatable[name] ?? 'not listed'}`,
    );
    return [
      {
        subject: null,
        severity: 'degraded',
        summary: 'The device plugin runs and the node offers no GPU, though the GPUs work: the kubelet has lost it',
        evidence: [
          { source: sources.node(kube), quote: offered.join(', ') || 'nvidia.com/gpu: not listed' },
          { source: sources.pods(kube), quote: `${pod.namespace}/${pod.name}: ${pod.phase}, ready` },
          { source: sources.smiXml, quote: `${well.length} GPUs answer` },
        ],
        remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { restart: true } }], approval: 'auto' },
        person: null,
      },
    ];
  },
});

/** Each has a rule of its own. */
const toldElsewhere: ReadonlySet<string> = new Set(['no_nvml', 'unknown_platform', 'mig_layout', 'config_invalid']);

type Pod = NonNullable<Kube['devicePlugin']['pods']>[number];

/** A pod of the plugin that is well, long enough, on a node that offers nothing; null: there is none. */
function idlePod(kube: Kube): Pod | null {
  const { node, devicePlugin } = kube;
  if (node === null || node.ready === false || offersGpus(node) || marks(kube).length > 0) return null;
  const complains = devicePlugin.logs.some(({ events }) => events.some(({ kind }) => toldElsewhere.has(kind)));
  if (complains) return null;
  return devicePlugin.pods?.find(({ ready, isFresh }) => ready && !isFresh) ?? null;
}
