import type { ModprobeSetting } from '../../probes/driver/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { blockersOf, gpusOfHost, hasModuleOnDisk, placeOf, reservationOf, runningKernel } from '../driver-questions.ts';
import { sources } from '../sources.ts';

export const driverModuleBlocked = defineRule({
  code: 'DRIVER_MODULE_BLOCKED',
  layer: 'driver',
  severity: 'blocker',
  title:
    'The nvidia (or nvidia_uvm) module is on disk and not loaded, and modprobe’s configuration or the kernel’s command line keeps it out',
  notWhen:
    'the module is loaded; an `install` line that loads it under another name; the GPUs are kept for virtual machines; Tegra',
  proposes: [],
  needs: ['pci', 'driver'],
  onTegra: 'never',
  excludedBy: ({ pci, driver }) =>
    (pci !== null && gpusOfHost(pci).length === 0) || (driver !== null && missingModules(driver.modules).length === 0),
  check({ pci, driver }, asked) {
    const [module] = missingModules(driver.modules);
    if (module === undefined || !hasModuleOnDisk(driver)) return [];
    if (module === 'nvidia_uvm' && runningKernel(driver)?.modules.includes('nvidia_uvm') === false) return [];
    // Whoever keeps every GPU for guests keeps the driver out on purpose.
    if (gpusOfHost(pci).every((gpu) => reservationOf(gpu, pci, driver) !== null)) return [];
    const unread = asked.unread('driver', 'modprobe');
    const blockers = blockersOf(driver, module);
    if (blockers.length === 0)
      return unread ? { cannotTell: `modprobe's configuration could not be read: ${unread}` } : [];
    return [...new Set(blockers.map(({ file }) => file))].map((file) =>
      toFinding(
        module,
        file,
        blockers.filter((setting) => setting.file === file),
      ),
    );
  },
});

/** The lowest module that is missing: without the first the second cannot be there. */
function missingModules(loaded: readonly string[]): ('nvidia' | 'nvidia_uvm')[] {
  return (['nvidia', 'nvidia_uvm'] as const).filter((module) => !loaded.includes(module));
}

function toFinding(module: string, file: string, settings: readonly ModprobeSetting[]): Found {
  const [first] = settings;
  const place = first ? placeOf(first) : file;
  return {
    subject: sources.file(file),
    severity: 'blocker',
    summary: `The module ${module} is kept from loading by ${place}`,
    evidence: settings.map((setting) => ({ source: sources.file(setting.file), quote: setting.text })),
    remedy: null,
    person:
      file === '/proc/cmdline'
        ? `Find out who put "${first?.text}" on the kernel's command line; take it out of the boot loader's configuration and reboot.`
        : `Find out who put it there; remove ${place}, rebuild the initramfs, then: modprobe ${module.replace('_', '-')}.`,
  };
}
