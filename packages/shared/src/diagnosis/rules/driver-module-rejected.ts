import type { FactValue } from '../../probes/facts.ts';
import { type Asked, defineRule } from '../define-rule.ts';
import { isPassthrough } from '../host-questions.ts';
import { nothingOnBus, quoted } from '../kernel-events.ts';
import { inWords } from '../reasons.ts';
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
    if (os === null || os.secureBoot === null)
      return {
        cannotTell: `the kernel refused a module, and whether Secure Boot is on is not known: ${whyUnknown(asked)}`,
      };
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
          { source: sources.secureBoot(os), quote: stateOf(os) },
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

/** As a person finds it there. */
function stateOf({ secureBootFrom }: FactValue<'os'>): string {
  return secureBootFrom === 'mokutil'
    ? 'SecureBoot enabled'
    : 'last byte 1: Secure Boot is on, as mokutil --sb-state says too';
}

function whyUnknown(asked: Asked<'os'>): string {
  const unreadable = asked.unreadable('os');
  return (unreadable && inWords(unreadable.because)) ?? asked.unread('os', 'secureBoot') ?? 'nothing tells it';
}
