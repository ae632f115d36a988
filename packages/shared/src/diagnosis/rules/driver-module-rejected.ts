import { defineRule } from '../define-rule.ts';
import { isPassthrough } from '../host-questions.ts';
import { nothingOnBus, quoted } from '../kernel-events.ts';
import { sources } from '../sources.ts';

export const driverModuleRejected = defineRule({
  code: 'DRIVER_MODULE_REJECTED',
  layer: 'driver',
  severity: 'blocker',
  title:
    'The nvidia module is on the disk and not loaded, and the kernel has refused a module for its signature (Secure Boot)',
  notWhen: 'Secure Boot is off; the module is loaded or not there; the kernel refused none',
  proposes: [],
  needs: ['kernel_log', 'driver', 'pci'],
  uses: ['os'],

  onTegra: 'never',
  excludedBy: (seen) =>
    nothingOnBus(seen) ||
    (seen.driver !== null && (seen.driver.modules.includes('nvidia') || seen.driver.loadedVersion !== null)) ||
    (seen.pci?.gpus.every(({ driver }) => isPassthrough(driver)) ?? false),
  check({ kernel_log: log, driver, os }, asked) {
    const refused = log.events.filter(({ kind }) => kind === 'module_rejected');
    if (refused.length === 0 || os?.secureBoot === false) return [];
    if (driver.onDiskVersion === null) {
      const unread = asked.unread('driver', 'onDiskVersion');
      return unread ? { cannotTell: `driver.onDiskVersion could not be read: ${unread}` } : [];
    }
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: 'Secure Boot refuses the nvidia module: it is signed with a key that the machine does not trust',
        evidence: [
          ...quoted(log, refused),
          { source: sources.moduleOnDisk, quote: driver.onDiskVersion },
          { source: sources.modules, quote: 'no module nvidia' },
        ],
        remedy: null,
        person:
          'Enrol the key (mokutil --import, then confirm at the console during the next boot), or install modules that the distribution has signed. No job switches Secure Boot off.',
      },
    ];
  },
});
