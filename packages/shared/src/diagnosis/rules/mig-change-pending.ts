import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { gpuName, isNotLoaded } from '../host-questions.ts';
import { sources } from '../sources.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];
type Holder = FactValue<'gpu_holders'>['holders'][number];

/** They come with the driver and let go of it when they are not in use themselves. */
const ownModules = ['nvidia_uvm', 'nvidia_modeset', 'nvidia_drm'];
/** More are counted. */
const mostNamed = 16;

export const migChangePending = defineRule({
  code: 'MIG_CHANGE_PENDING',
  layer: 'driver',
  severity: 'warning',
  title:
    'A GPU’s current MIG mode differs from its pending one; the evidence names the processes, services and kernel modules that hold it',
  notWhen: 'the modes are equal; the GPU is not MIG capable (N/A)',
  proposes: ['reset_gpu'],
  needs: ['driver', 'gpus', 'gpu_holders'],
  searches: ['gpus'],
  onTegra: 'with_nvml',
  excludedBy: ({ driver, gpus }) =>
    (driver !== null && isNotLoaded(driver)) || (gpus !== null && !gpus.gpus.some(isPending)),
  check({ gpus, gpu_holders: { holders } }, asked) {
    const untold = asked.unread('gpu_holders', 'holders');
    return gpus.gpus.filter(isPending).map((gpu): Found => {
      const held = holdersOf(gpu, holders);
      const names = [...new Set(held.map(({ who }) => who))];
      const more = held.length > mostNamed ? ` and ${held.length - mostNamed} more` : '';
      const by = names.length > 0 ? `; held by ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''}` : '';
      return {
        subject: `gpu:${gpuName(gpu)}`,
        severity: 'warning',
        summary: `GPU ${gpuName(gpu)} waits for a reset to have MIG ${gpu.mig.pending}: it is still ${gpu.mig.current}${by}`,
        evidence: [
          {
            source: sources.smiXml,
            quote: `current_mig ${capital(gpu.mig.current)}, pending_mig ${capital(gpu.mig.pending)}`,
          },
          ...held.slice(0, mostNamed).map(({ source, quote }, at) => ({
            source,
            quote: at === mostNamed - 1 ? `${quote}${more}` : quote,
          })),
        ],
        remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: gpuName(gpu) } }], approval: 'approve' },
        person: untold && `Not every process could be looked into (${untold}): there may be more that hold the GPU.`,
      };
    });
  },
});

function isPending({ mig, lost }: Gpu): boolean {
  return !lost && mig.current !== null && mig.pending !== null && mig.current !== mig.pending;
}

interface Held {
  who: string;
  source: string;
  quote: string;
}

function holdersOf(gpu: Gpu, holders: readonly Holder[]): Held[] {
  // Without the minor number any GPU's node may be this one's.
  const node = gpu.minorNumber === null ? null : `/dev/nvidia${gpu.minorNumber}`;
  const isThis = (path: string) => (node === null ? /^\/dev\/nvidia\d+$/.test(path) : path === node);
  const processes = holders.flatMap((holder) => {
    const path = holder.paths.find(isThis);
    return holder.pid === null || path === undefined ? [] : [heldBy(holder, holder.pid, path)];
  });
  const seen = new Set(holders.map(({ pid }) => pid));
  const listed = gpu.processes
    .filter(({ pid }) => !seen.has(pid))
    .map(({ pid, name }) => {
      const who = `pid ${pid} (${name ?? 'name not given'})`;
      return { who, source: sources.smiXml, quote: `held by ${who}` };
    });
  const modules = holders
    .filter(({ kind, name, useCount }) => kind === 'kernel_module' && (!ownModules.includes(name) || useCount !== 0))
    // Every program of CUDA has nvidia_uvm open: it is named by its process.
    .filter(({ name }) => name !== 'nvidia_uvm' || processes.length + listed.length === 0)
    .map(({ name, useCount }) => ({
      who: `kernel module ${name}`,
      source: sources.modules,
      quote: `kernel module ${name} stands on nvidia, in use by ${useCount ?? 'an unknown number of'} others`,
    }));
  return [...processes, ...listed, ...modules];
}

function heldBy({ name, unit, containerId, pod }: Holder, pid: number, path: string): Held {
  const owner = pod
    ? ` of pod ${pod}`
    : containerId
      ? ` of container ${containerId.slice(0, 12)}`
      : unit
        ? ` of ${unit}`
        : '';
  const who = `pid ${pid} (${name})${owner}`;
  return { who, source: sources.openFiles(pid), quote: `${path} is open in ${who}` };
}

function capital(mode: string | null): string {
  return mode === null ? 'N/A' : `${mode.charAt(0).toUpperCase()}${mode.slice(1)}`;
}
