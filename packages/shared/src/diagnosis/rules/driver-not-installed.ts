import { defineRule } from '../define-rule.ts';
import { gpusOfHost } from '../driver-questions.ts';
import { sources } from '../sources.ts';

export const driverNotInstalled = defineRule({
  code: 'DRIVER_NOT_INSTALLED',
  layer: 'driver',
  severity: 'blocker',
  title:
    'An NVIDIA GPU is on the bus; no nvidia module is loaded or on disk for any kernel, DKMS has none, and there is no libnvidia-ml',
  notWhen: 'a library is there, in whatever root; Tegra; every GPU is held for passthrough; no GPU',
  proposes: [],
  needs: ['pci', 'driver'],
  onTegra: 'never',
  excludedBy: ({ pci, driver }) =>
    (pci !== null && gpusOfHost(pci).length === 0) ||
    (driver !== null &&
      ((driver.loadedVersion ?? driver.onDiskVersion ?? driver.libraryPath) !== null ||
        driver.otherLibraries.length > 0)),
  check({ pci, driver }, asked) {
    if (driver.modules.includes('nvidia')) return [];
    // Built once, for another kernel or for none yet: that is another fault.
    if (driver.dkms.length > 0 || driver.kernels.some(({ modules }) => modules.includes('nvidia'))) return [];
    for (const path of ['modules', 'loadedVersion', 'onDiskVersion', 'libraryPath', 'kernels', 'dkms']) {
      const unread = asked.unread('driver', path);
      if (unread) return { cannotTell: `driver.${path} could not be read: ${unread}` };
    }
    const [gpu] = gpusOfHost(pci);
    if (!gpu) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: 'An NVIDIA GPU is present, but no NVIDIA driver is installed',
        evidence: [
          {
            source: sources.pciVendor(gpu.address),
            quote: `0x${gpu.vendorId}`,
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
