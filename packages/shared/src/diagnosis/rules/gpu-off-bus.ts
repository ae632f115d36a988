import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { busAddress, gpuName, isNotLoaded } from '../host-questions.ts';
import { gpuSubject, offBusEvents, quoted, sinceLoad } from '../kernel-events.ts';
import { reasonInWords } from '../reasons.ts';
import { sources } from '../sources.ts';

type Pci = FactValue<'pci'>;
type Driver = FactValue<'driver'>;
type Seen = { [K in 'gpus' | 'kernel_log']: FactValue<K> | null } & { pci: FactValue<'pci'> };

export const gpuOffBus = defineRule({
  code: 'GPU_OFF_BUS',
  layer: 'hardware',
  severity: 'critical',
  title:
    'The kernel log of this boot says that a GPU has fallen off the bus (Xid 79), its configuration space reads all ones, nvidia-smi says "GPU is lost", the module has or needs a GPU that the bus does not show, or nvidia-smi lists fewer GPUs than the nvidia driver holds on the bus',
  notWhen:
    'the event is older than this boot or the last load of the driver; the GPU could not be initialised; GPUs bound to another driver are not counted',
  proposes: ['reboot_host'],
  needs: ['pci', 'driver'],
  uses: ['gpus', 'kernel_log', 'os'],
  searches: ['gpus'],
  onTegra: 'with_nvml',
  check({ pci, driver, gpus, kernel_log: log, os }, asked) {
    const found = [...byKernel({ pci, gpus, kernel_log: log }), ...byReport(gpus), ...byBus(pci, gpus)];
    const reason = asked.unreadable('gpus');
    const gone = asked.unread('pci', 'gpus') ? [] : goneOf(pci, driver);
    if (os !== null && seesBus(os)) found.push(...gone);
    if (reason?.because === 'gpu_lost') found.push(byReason(reason.detail));
    // Without a driver that answers, nvidia-smi's silence says nothing of the GPU.
    const bound = isNotLoaded(driver) ? [] : pci.gpus.filter((gpu) => gpu.driver === 'nvidia');
    const missing = gpus === null || asked.cutShort('gpus') ? [] : missingOf({ pci, gpus, kernel_log: log }, bound);
    if (Array.isArray(missing)) found.push(...missing);
    const merged = mergeBySubject(found);
    if (merged.length > 0) return merged;
    if (!Array.isArray(missing)) return missing;
    if (bound.length > 0 && gpus === null && reason)
      return { cannotTell: `fact gpus could not be read: ${reasonInWords(reason)}` };
    if (gone.length > 0) return { cannotTell: whyBusUnknown(os) };
    const unread = asked.unread('pci', 'gpus');
    if (unread && pci.gpus.length === 0 && driver.modules.includes('nvidia'))
      return { cannotTell: `the nvidia module is loaded, and the bus was not read completely: ${unread}` };
    return [];
  },
});

const remedy: Found['remedy'] = { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' };
const person =
  'Where it happens again after a cold start: check power, riser and cooling, then have the card serviced.';

function byKernel({ gpus, kernel_log: log }: Seen): Found[] {
  if (log === null) return [];
  return offBusEvents(log).map((event) => ({
    subject: gpuSubject(event.address, gpus),
    severity: 'critical',
    summary: `${event.address === null ? 'A GPU' : `GPU ${event.address}`} has fallen off the bus`,
    evidence: quoted(log, [event]),
    remedy,
    person,
  }));
}

function byReport(gpus: FactValue<'gpus'> | null): Found[] {
  return (gpus?.gpus ?? [])
    .filter(({ lost }) => lost)
    .map((gpu) => ({
      subject: `gpu:${gpuName(gpu)}`,
      severity: 'critical',
      summary: `GPU ${gpu.pciBusId ?? gpuName(gpu)} has fallen off the bus`,
      evidence: [{ source: sources.smiXml, quote: 'GPU is lost' }],
      remedy,
      person,
    }));
}

/** What is gone from the bus is read as all ones. */
function byBus(pci: FactValue<'pci'>, gpus: FactValue<'gpus'> | null): Found[] {
  return pci.gpus
    .filter(({ configDead }) => configDead === true)
    .map(({ address }) => ({
      subject: gpuSubject(busAddress(address), gpus),
      severity: 'critical',
      summary: `GPU ${address} has fallen off the bus`,
      evidence: [{ source: sources.pciConfig(address), quote: 'all ones (lspci: rev ff)' }],
      remedy,
      person,
    }));
}

/**
 * The module refuses to load without a GPU, and lists those that it has: one that it has and the bus has not, has left
 * the bus since. A machine that only manages NVSwitches has the module without a GPU.
 */
function goneOf(pci: Pci, driver: Driver): Found[] {
  if (!driver.modules.includes('nvidia')) return [];
  const onBus = new Set(pci.gpus.map(({ address }) => busAddress(address)));
  const held = driver.gspFirmware.filter(({ address }) => !onBus.has(busAddress(address)));
  const gone = held.map(({ address }) =>
    goneFrom(address, { source: sources.heldGpu(address), quote: `Bus Location: ${address}` }),
  );
  if (gone.length > 0 || pci.gpus.length > 0 || pci.nvswitches.length > 0) return gone;
  return [goneFrom(null, { source: sources.modules, quote: 'nvidia' })];
}

function goneFrom(address: string | null, known: Found['evidence'][number]): Found {
  const name =
    address === null ? 'The GPU without which the nvidia module would not have been loaded' : `GPU ${address}`;
  return {
    subject: address === null ? null : sources.pciDevice(busAddress(address) ?? address),
    severity: 'critical',
    summary: `${name} is no longer on the PCI bus`,
    evidence: [
      known,
      { source: sources.pciBus, quote: address === null ? 'no NVIDIA GPU' : `no ${busAddress(address) ?? address}` },
    ],
    remedy,
    person: `Nothing is wrong where somebody took it out or gave it to a virtual machine. ${person}`,
  };
}

/** Inside a container /proc/modules is the machine's, and the bus need not be. */
function seesBus({ insideContainer, virtualisation }: FactValue<'os'>): boolean {
  return (
    !insideContainer && !/^(?:lxc|docker|podman|container-other|wsl|systemd-nspawn|openvz)$/.test(virtualisation ?? '')
  );
}

function whyBusUnknown(os: FactValue<'os'> | null): string {
  const why = os === null ? 'it is not known whether this is a container' : 'a container need not be shown the bus';
  return `the nvidia module is loaded and its GPU is not on the bus; ${why}`;
}

/** nvidia-smi gave no report, and its reason names the GPU. */
function byReason(detail: string): Found {
  const address = busAddress(/[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/i.exec(detail)?.[0] ?? null);
  return {
    subject: gpuSubject(address, null),
    severity: 'critical',
    summary: `${address === null ? 'A GPU' : `GPU ${address}`} has fallen off the bus`,
    evidence: [{ source: sources.smiXml, quote: detail }],
    remedy,
    person,
  };
}

/** Bound to the driver and not in the report, though not because it was never initialised. */
function missingOf({ gpus, kernel_log: log }: Seen, bound: Seen['pci']['gpus']): Found[] | { cannotTell: string } {
  if (gpus === null || gpus.gpus.length >= bound.length) return [];
  const answering = new Set(gpus.gpus.map((gpu) => busAddress(gpu.pciBusId)));
  if (answering.has(null))
    return { cannotTell: 'nvidia-smi lists fewer GPUs than the bus and does not say at which addresses' };
  const failed = log === null ? [] : sinceLoad(log).filter(({ kind }) => otherFailures.has(kind));
  const explained = (address: string) =>
    failed.some((event) => event.address === null || event.address === busAddress(address));
  return bound
    .filter(({ address }) => !answering.has(busAddress(address)) && !explained(address))
    .map(({ address }) => ({
      subject: sources.pciDevice(address),
      severity: 'critical',
      summary: `GPU ${address} is bound to the nvidia driver but does not answer`,
      evidence: [
        { source: sources.pciDriver(address), quote: 'driver -> nvidia' },
        { source: sources.smiXml, quote: `${gpus.gpus.length} of ${bound.length} GPUs listed, none at ${address}` },
      ],
      remedy,
      person,
    }));
}

const otherFailures: ReadonlySet<string> = new Set([
  'init_failed',
  'gfw_boot_failed',
  'unsupported_branch',
  'needs_open_modules',
  'gpu_without_gsp',
]);

/** The kernel and nvidia-smi speak of the same GPU: one finding with what both say. */
function mergeBySubject(found: readonly Found[]): Found[] {
  const merged = new Map<string | null, Found>();
  for (const one of found) {
    const known = merged.get(one.subject);
    merged.set(one.subject, known ? { ...known, evidence: [...known.evidence, ...one.evidence].slice(0, 6) } : one);
  }
  return [...merged.values()];
}
