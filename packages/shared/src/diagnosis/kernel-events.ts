import type { FactValue } from '../probes/facts.ts';
import type { KernelEvent } from '../probes/kernel-log/fact.ts';
import { knownXid } from '../probes/kernel-log/xid-catalogue.ts';
import type { Found } from './define-rule.ts';
import { busAddress, gpuName } from './host-questions.ts';
import { sources } from './sources.ts';

type KernelLog = FactValue<'kernel_log'>;
type Gpus = FactValue<'gpus'> | null;

/** While it is loaded the module looks at the GPUs first, and says that it was loaded afterwards. */
const loadingSeconds = 30;
const mostQuoted = 3;

/** What the driver that is loaded now said: older lines are history. Also what it said while it was being loaded. */
export function sinceLoad(log: KernelLog): KernelEvent[] {
  const loads = log.events.flatMap((event, at) => (event.kind === 'module_loaded' ? [at] : []));
  const last = loads.at(-1);
  if (last === undefined) return log.events;
  const loadedAt = log.events[last]?.firstSeconds ?? null;
  const before = loads.at(-2) ?? -1;
  return log.events.filter((event, at) => {
    if (at >= last) return true;
    const seconds = event.lastSeconds;
    return at > before && (loadedAt === null || seconds === null || loadedAt - seconds <= loadingSeconds);
  });
}

/** Xids of one GPU that still count: since the module was loaded, the GPU reset, or the driver had nothing left to ask for. */
export function standingXids(log: KernelLog, address: string | null): KernelEvent[] {
  const loaded = log.events.findLastIndex(({ kind }) => kind === 'module_loaded');
  const own = log.events.slice(loaded + 1).filter((event) => event.address === address);
  const over = own.findLastIndex(({ kind, xid, detail }) => kind === 'gpu_reset' || (xid === 154 && detail === 'None'));
  return own.slice(over + 1).filter(({ kind }) => kind === 'xid');
}

/** The recovery that the driver asks for of this GPU (Xid 154), or null. */
export function recoveryAsked(xids: readonly KernelEvent[]): string | null {
  const last = xids.findLast(({ xid }) => xid === 154)?.detail ?? null;
  return last !== null && /reset|reboot|FLR/i.test(last) ? last : null;
}

export function needsReset({ xid }: KernelEvent): boolean {
  return xid !== null && knownXid(xid)?.class === 'reset_required';
}

/** The GPU has left the bus, in the words of this boot. */
export function offBusEvents(log: KernelLog): KernelEvent[] {
  const addresses = [...new Set(log.events.map(({ address }) => address))];
  const standing = addresses.flatMap((address) => standingXids(log, address).filter(({ xid }) => xid === 79));
  return [...standing, ...sinceLoad(log).filter(({ kind }) => kind === 'fell_off_bus')];
}

export function addressesIn(events: readonly KernelEvent[]): (string | null)[] {
  return [...new Set(events.map(({ address }) => address))];
}

export function gpuAt(address: string | null, gpus: Gpus): NonNullable<Gpus>['gpus'][number] | null {
  if (address === null || gpus === null) return null;
  return gpus.gpus.find((gpu) => busAddress(gpu.pciBusId) === busAddress(address)) ?? null;
}

/** nvidia-smi describes the GPU, and not as a lost one. */
export function answers(address: string | null, gpus: Gpus): boolean {
  const gpu = gpuAt(address, gpus);
  return gpu !== null && !gpu.lost;
}

/** `gpu:UUID` where nvidia-smi names it; its place on the bus otherwise. */
export function gpuSubject(address: string | null, gpus: Gpus): string | null {
  const gpu = gpuAt(address, gpus);
  if (gpu?.uuid) return `gpu:${gpuName(gpu)}`;
  return address === null ? null : sources.pciDevice(address);
}

/** What a job calls it. */
export function gpuParam(address: string, gpus: Gpus): string {
  return gpuAt(address, gpus)?.uuid ?? address;
}

export function quoted(log: KernelLog, events: readonly KernelEvent[]): Found['evidence'] {
  const evidence = events.slice(0, mostQuoted).map((event) => ({
    source: sources.kernelLog(log),
    quote: event.count > 1 ? `${event.line} (${often(event.count)})` : event.line,
  }));
  const more = events.length - evidence.length;
  if (more > 0) evidence.push({ source: sources.kernelLog(log), quote: `and ${more} more of the kind` });
  return evidence;
}

/** Roughly: an exact count of what goes on happening would make the diagnosis another at each reading. */
function often(count: number): string {
  return count < 10 ? `${count} times` : `${10 ** Math.floor(Math.log10(count))} times and more`;
}

/** No NVIDIA GPU is on the bus: a log that could not be read has nothing to say of one. */
export function nothingOnBus(seen: { pci: FactValue<'pci'> | null; kernel_log: KernelLog | null }): boolean {
  return seen.kernel_log === null && seen.pci !== null && seen.pci.gpus.length === 0;
}
