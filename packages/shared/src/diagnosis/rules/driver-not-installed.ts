import { defineRule } from '../define-rule.ts';
import { isPassthrough } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const driverNotInstalled = defineRule({
  code: 'DRIVER_NOT_INSTALLED',
  layer: 'driver',
  severity: 'blocker',
  title: 'An NVIDIA GPU is on the bus; no nvidia module is loaded or on disk, and there is no libnvidia-ml',
  notWhen: 'the library is there; Tegra; every GPU is held for passthrough; no GPU',
  proposes: [],
  needs: ['pci', 'driver'],
  onTegra: 'never',
  excludedBy: ({ pci, driver }) =>
    (pci?.gpus.every((gpu) => isPassthrough(gpu.driver)) ?? false) ||
    (driver !== null && (driver.loadedVersion ?? driver.onDiskVersion ?? driver.libraryPath) !== null),
  check({ pci, driver }, asked) {
    if (driver.modules.includes('nvidia')) return [];
    for (const path of ['modules', 'loadedVersion', 'onDiskVersion', 'libraryPath']) {
      const unread = asked.unread('driver', path);
      if (unread) return { cannotTell: `driver.${path} could not be read: ${unread}` };
    }
    const gpu = pci.gpus.find(({ driver: holder }) => !isPassthrough(holder));
    if (!gpu) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: 'An NVIDIA GPU is present, but no NVIDIA driver is installed',
        evidence: [
          {
            source: sources.pciVendor(gpu.address),
            quote: `0x${gpu.vendorId} (device 0x${gpu.deviceId}, class 0x${gpu.classCode})`,
          },
          { source: sources.modules, quote: 'no module nvidia' },
          { source: sources.moduleOnDisk, quote: 'no module nvidia for the running kernel' },
        ],
        remedy: null,
        person:
          'Choose a driver branch and flavour that support this GPU, install it and reboot. ' +
          'The choice is yours: a wrong branch leaves the GPU unusable.',
      },
    ];
  },
});
