import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { busAddress } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { isGpuResource, type Kube } from './device-plugin-parts.ts';

/** A GPU with one of these needs a reset, a look at its rows or an exchange: nobody gives it back to work before. */
const hardwareXids = [48, 62, 64, 74, 79, 95, 119, 120, 140, 143];

export const devicePluginGpuUnhealthy = defineRule({
  code: 'DEVICE_PLUGIN_GPU_UNHEALTHY',
  layer: 'kubernetes',
  severity: 'degraded',
  title:
    'The device plugin’s log marks a GPU unhealthy and the node offers fewer GPUs than it has, while the GPU answers and shows no fault',
  notWhen:
    'an Xid of the hardware since boot, ECC or remap flags, a lost GPU (other rules tell); capacity and allocatable agree: the plugin was restarted since',
  proposes: ['deploy_device_plugin'],
  needs: ['kube', 'gpus', 'kernel_log'],
  searches: ['gpus'],
  // A GPU of which the rest was not told is not known to be well.
  missesIn: ['gpus'],
  consequenceOf: ['GPU_OFF_BUS', 'GPU_XID_RESET_REQUIRED', 'GPU_MEMORY_FAULT', 'CONTAINER_GPU_CGROUP_LOSS'],
  excludedBy: ({ kube }) => kube !== null && marks(kube).length === 0,
  check({ kube, gpus, kernel_log: log }) {
    const missing = kube.node === null ? null : shortOf(kube.node);
    if (missing?.length === 0) return [];
    const found: Found[] = [];
    for (const mark of marks(kube)) {
      if (mark.xid !== null && hardwareXids.includes(mark.xid)) continue;
      const gpu = gpus.gpus.find(
        ({ uuid, mig }) => uuid === mark.device || mig.devices.some((one) => one.uuid === mark.device),
      );
      if (mark.device !== null && (gpu === undefined || !isWell(gpu, log))) continue;
      if (mark.device === null && gpus.gpus.some((one) => !isWell(one, log))) continue;
      found.push({
        subject: mark.device === null ? null : `gpu:${mark.device}`,
        severity: 'degraded',
        summary: `The device plugin took ${mark.device === null ? 'the GPUs' : `GPU ${mark.device}`} out of service${mark.xid === null ? '' : ` after Xid ${mark.xid}`} and keeps it there, though it works`,
        evidence: [
          { source: mark.source, quote: mark.line },
          ...(missing ? [{ source: sources.node(kube), quote: missing.join(', ') }] : []),
          {
            source: sources.smiXml,
            quote: gpu ? `${gpu.name ?? 'GPU'} ${gpu.uuid} answers` : `${gpus.gpus.length} GPUs answer`,
          },
        ],
        remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { restart: true } }], approval: 'auto' },
        person: null,
      });
    }
    return found;
  },
});

interface Mark {
  device: string | null;
  xid: number | null;
  line: string;
  source: string;
}

/** One for each device: the line that names an Xid says more than the one that follows it. */
export function marks({ devicePlugin }: Kube): Mark[] {
  const byDevice = new Map<string | null, Mark>();
  for (const { events, source } of devicePlugin.logs)
    for (const { kind, device, xid, line } of events) {
      if (kind !== 'unhealthy') continue;
      const known = byDevice.get(device);
      // Any Xid of the hardware decides, also beside one of an application.
      const isWorse = xid !== null && (known?.xid == null || hardwareXids.includes(xid));
      if (known === undefined || isWorse) byDevice.set(device, { device, xid, line, source });
    }
  return [...byDevice.values()];
}

function shortOf(node: NonNullable<Kube['node']>): string[] {
  return Object.entries(node.capacity)
    .filter(([name, count]) => isGpuResource(name) && Number(count) > Number(node.allocatable[name] ?? count))
    .map(([name, count]) => `${name}: capacity ${count}, allocatable ${node.allocatable[name]}`);
}

export function isWell(gpu: FactValue<'gpus'>['gpus'][number], log: FactValue<'kernel_log'>): boolean {
  if (gpu.lost || gpu.remappedRowsPending || gpu.remappedRowsFailure || (gpu.eccUncorrectedVolatile ?? 0) > 0)
    return false;
  if (gpu.recoveryAction !== null && gpu.recoveryAction !== 'None') return false;
  const address = busAddress(gpu.pciBusId);
  return !log.events.some(
    ({ kind, xid, address: at }) =>
      at === address && ((kind === 'xid' && xid !== null && hardwareXids.includes(xid)) || kind === 'fell_off_bus'),
  );
}
