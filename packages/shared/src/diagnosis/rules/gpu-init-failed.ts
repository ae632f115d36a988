import type { FactValue } from '../../probes/facts.ts';
import type { KernelEvent } from '../../probes/kernel-log/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { addressesIn, answers, gpuSubject, nothingOnBus, offBusEvents, quoted, sinceLoad } from '../kernel-events.ts';

/** They say why, and are told by rules of their own. */
const flavourOrBranch: ReadonlySet<string> = new Set(['needs_open_modules', 'gpu_without_gsp', 'unsupported_branch']);

export const gpuInitFailed = defineRule({
  code: 'GPU_INIT_FAILED',
  layer: 'hardware',
  severity: 'blocker',
  title: 'The driver that is loaded could not initialise a GPU (RmInitAdapter failed, firmware that never boots)',
  notWhen: 'flavour or branch of the driver do not fit the GPU; it fell off the bus in this boot; it answers now',
  proposes: [],
  needs: ['kernel_log', 'pci'],
  uses: ['gpus'],
  missesIn: ['gpus'],
  consequenceOf: ['GPU_OFF_BUS', 'DRIVER_FLAVOUR_UNSUPPORTED', 'DRIVER_BRANCH_UNSUPPORTED_GPU'],
  excludedBy: nothingOnBus,
  check({ kernel_log: log, pci, gpus }) {
    const said = sinceLoad(log);
    const failed = said.filter(({ kind }) => kind === 'init_failed');
    const firmware = said.filter(({ kind }) => kind === 'gfw_boot_failed');
    const explains = [...said.filter(({ kind }) => flavourOrBranch.has(kind)), ...offBusEvents(log)];
    // Old drivers do not say which GPU it was: with one on the bus it is known all the same.
    const only = pci.gpus.length === 1 ? (pci.gpus[0]?.address ?? null) : null;
    const placed = failed.map((event) => ({ ...event, address: event.address ?? only }));
    const places = addressesIn(placed.length > 0 ? placed : firmware.map((event) => ({ ...event, address: only })));
    return places
      .filter((address) => !explains.some((event) => event.address === null || event.address === address))
      .filter((address) => !answers(address, gpus) && !(address === null && allAnswer(pci, gpus)))
      .map((address) => {
        const own = placed.filter((event) => event.address === address);
        const boots = firmware.filter((event) => event.address === null || event.address === address);
        return initFailed(address, log, gpus, [...boots, ...own], boots.length > 0 || own.some(isFirmware));
      });
  },
});

function initFailed(
  address: string | null,
  log: FactValue<'kernel_log'>,
  gpus: FactValue<'gpus'> | null,
  events: readonly KernelEvent[],
  firmware: boolean,
): Found {
  const name = address === null ? 'A GPU' : `GPU ${address}`;
  return {
    subject: gpuSubject(address, gpus),
    severity: 'blocker',
    summary: firmware
      ? `${name} could not be initialised: the firmware on the card does not boot`
      : `${name} could not be initialised by a driver that fits it`,
    evidence: quoted(log, events),
    remedy: null,
    person: firmware
      ? 'Power the machine off and on once, cold; where the card fails again, check its power and riser and have it serviced. Installing the driver anew does not help.'
      : 'In the firmware set-up of the machine switch on Above 4G Decoding and Resizable BAR, and bring it up to date; then check power and slot.',
  };
}

function isFirmware({ detail }: KernelEvent): boolean {
  return detail === 'GSP firmware';
}

function allAnswer(pci: FactValue<'pci'>, gpus: FactValue<'gpus'> | null): boolean {
  return gpus !== null && gpus.gpus.length >= pci.gpus.length;
}
