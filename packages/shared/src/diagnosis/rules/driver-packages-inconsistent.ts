import { defineRule } from '../define-rule.ts';
import { isDriverOfContainer } from '../driver-questions.ts';
import { isCompatLibrary } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const driverPackagesInconsistent = defineRule({
  code: 'DRIVER_PACKAGES_INCONSISTENT',
  layer: 'driver',
  severity: 'blocker',
  title: 'The nvidia module on disk and libnvidia-ml on disk have different versions',
  notWhen: 'only a reload is pending (DRIVER_LIBRARY_MISMATCH); Tegra; CUDA compat libraries',
  proposes: ['repair_packages'],
  needs: ['driver'],
  onTegra: 'never',
  excludedBy: ({ driver }) => driver !== null && (isCompatLibrary(driver.libraryPath) || isDriverOfContainer(driver)),
  check({ driver }, asked) {
    const { libraryVersion, onDiskVersion } = driver;
    if (libraryVersion === null || onDiskVersion === null) {
      const unread = asked.unread('driver', 'libraryVersion') ?? asked.unread('driver', 'onDiskVersion');
      return unread ? { cannotTell: `a version on disk could not be read: ${unread}` } : [];
    }
    if (libraryVersion === onDiskVersion) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `Module ${onDiskVersion} and library ${libraryVersion} are both on disk: a reboot does not help`,
        evidence: [
          { source: sources.moduleOnDisk, quote: onDiskVersion },
          { source: sources.file(driver.libraryPath ?? 'libnvidia-ml.so.1'), quote: libraryVersion },
        ],
        remedy: { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' },
        person: null,
      },
    ];
  },
});
