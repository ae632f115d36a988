import type { FactValue } from '../../probes/facts.ts';
import type { PciGpu } from '../../probes/pci/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { placeOf, reservationOf } from '../driver-questions.ts';
import { isPassthrough } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const gpuBoundToOtherDriver = defineRule({
  code: 'GPU_BOUND_TO_OTHER_DRIVER',
  layer: 'driver',
  severity: 'blocker',
  title: 'The kernel driver bound to an NVIDIA display function is not nvidia; info where it is held for passthrough',
  notWhen: 'bound to nvidia, or to nothing; audio and USB functions of the card',
  proposes: [],
  needs: ['pci', 'driver'],
  onTegra: 'with_nvml',
  consequenceOf: ['DRIVER_NOT_INSTALLED', 'DRIVER_MODULE_NOT_BUILT', 'DRIVER_MODULE_BLOCKED'],
  excludedBy: ({ pci }) => pci?.gpus.every((gpu) => gpu.driver === null || gpu.driver === 'nvidia') ?? false,
  check({ pci, driver }) {
    return pci.gpus
      .filter((gpu) => gpu.driver !== null && gpu.driver !== 'nvidia')
      .map((gpu) => (isPassthrough(gpu.driver) ? heldForGuest(gpu, pci, driver) : held(gpu, driver)));
  },
});

function heldForGuest(gpu: PciGpu, pci: FactValue<'pci'>, driver: FactValue<'driver'>): Found {
  const reservation = reservationOf(gpu, pci, driver);
  return {
    // No UUID is known without the nvidia driver: the link that says so is what can be named.
    subject: sources.pciDriver(gpu.address),
    severity: 'info',
    summary: `GPU ${gpu.address} is held by ${gpu.driver} for a virtual machine`,
    evidence: [
      { source: sources.pciDriver(gpu.address), quote: `driver -> ${gpu.driver}` },
      ...(reservation ? [{ source: sources.file(reservation.file), quote: reservation.quote }] : []),
    ],
    remedy: null,
    person: 'Nothing, where this host passes its GPUs to virtual machines. Never unbind it while one may use the card.',
  };
}

function held(gpu: PciGpu, driver: FactValue<'driver'>): Found {
  const module = (gpu.driver ?? '').replaceAll('-', '_');
  const ban = driver.modprobe.find(
    (setting) => setting.module === module && ['blacklist', 'kernel_blacklist'].includes(setting.directive),
  );
  return {
    subject: sources.pciDriver(gpu.address),
    severity: 'blocker',
    summary: `GPU ${gpu.address} is held by ${gpu.driver} instead of the nvidia driver`,
    evidence: [
      { source: sources.pciDriver(gpu.address), quote: `driver -> ${gpu.driver}` },
      ...(ban ? [{ source: sources.file(ban.file), quote: ban.text }] : []),
    ],
    remedy: null,
    person: ban
      ? `${gpu.driver} is banned by ${placeOf(ban)} and was loaded all the same: rebuild the initramfs and reboot.`
      : `Keep ${gpu.driver} from loading (modprobe.d: blacklist ${gpu.driver}), rebuild the initramfs and reboot.`,
  };
}
