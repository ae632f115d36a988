import { defineRule } from '../define-rule.ts';
import { newerKernelWithoutModule, whyDriverUnknown } from '../driver-questions.ts';
import { isCompatLibrary, isNotLoaded } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const driverLibraryMismatch = defineRule({
  code: 'DRIVER_LIBRARY_MISMATCH',
  layer: 'driver',
  severity: 'blocker',
  title: 'The loaded module has another version than libnvidia-ml, and the module on disk has the library’s',
  notWhen: 'the module on disk differs from the library (DRIVER_PACKAGES_INCONSISTENT); Tegra; CUDA compat libraries',
  proposes: ['reboot_host'],
  needs: ['driver'],
  onTegra: 'never',
  excludedBy: ({ driver }) =>
    driver !== null &&
    (isNotLoaded(driver) || driver.loadedVersion === driver.libraryVersion || isCompatLibrary(driver.libraryPath)),
  check({ driver }, asked) {
    const { loadedVersion, libraryVersion, onDiskVersion } = driver;
    if (libraryVersion === null) {
      const unread = asked.unread('driver', 'libraryVersion');
      return unread ? { cannotTell: `the version of libnvidia-ml could not be read: ${unread}` } : [];
    }
    if (onDiskVersion === null) {
      const unread = asked.unread('driver', 'onDiskVersion');
      return unread ? { cannotTell: `the version of the module on disk could not be read: ${unread}` } : [];
    }
    if (loadedVersion === null) return { cannotTell: whyDriverUnknown(asked) };
    if (loadedVersion === libraryVersion || onDiskVersion !== libraryVersion) return [];
    const next = newerKernelWithoutModule(driver);
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `The driver was changed to ${libraryVersion}, but the kernel still runs module ${loadedVersion}`,
        evidence: [
          { source: sources.loadedDriver, quote: loadedVersion },
          { source: sources.file(driver.libraryPath ?? 'libnvidia-ml.so.1'), quote: libraryVersion },
          { source: sources.moduleOnDisk, quote: onDiskVersion },
          ...(next ? [{ source: sources.modulesOf(next.kernel), quote: 'no nvidia module for this kernel' }] : []),
        ],
        remedy: next ? null : { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' },
        person: next
          ? `Have the module built for kernel ${next.kernel} first: the next boot would start that kernel without a driver. Then reboot.`
          : "Running containers go on until they are restarted. Hold the driver's packages afterwards: unattended upgrades do this again.",
      },
    ];
  },
});
