import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import {
  gpusOfHost,
  hasModuleOnDisk,
  isDriverOfContainer,
  otherKernelsWithModule,
  runningKernel,
} from '../driver-questions.ts';
import { sources } from '../sources.ts';

export const driverModuleNotBuilt = defineRule({
  code: 'DRIVER_MODULE_NOT_BUILT',
  layer: 'driver',
  severity: 'blocker',
  title:
    'No nvidia module on disk for the running kernel, but one for another kernel, sources in DKMS or the driver’s library',
  notWhen:
    'the file exists (rejected or blocked then); a driver that answers is loaded; a restart is scheduled and another kernel has the module; passthrough; Tegra',
  proposes: ['repair_packages', 'load_modules'],
  needs: ['pci', 'driver', 'os'],
  onTegra: 'never',
  excludedBy: ({ pci, driver, os }) =>
    (pci !== null && gpusOfHost(pci).length === 0) ||
    os?.virtualisation === 'wsl' ||
    (driver !== null && (hasModuleOnDisk(driver) || answers(driver) || isDriverOfContainer(driver))),
  check({ driver, os }, asked) {
    for (const path of ['modules', 'onDiskVersion', 'kernels', 'libraryPath']) {
      const unread = asked.unread('driver', path);
      if (unread) return { cannotTell: `driver.${path} could not be read: ${unread}` };
    }
    const others = otherKernelsWithModule(driver);
    if (others.length === 0 && driver.dkms.length === 0 && driver.libraryPath === null) return [];
    if (os.rebootScheduledAtMs !== null && others.length > 0) return [];
    return [toFinding(driver)];
  },
});

/** What is loaded fits its library: a kernel whose modules were removed from the disk goes on with them. */
function answers({ modules, loadedVersion, libraryVersion }: FactValue<'driver'>): boolean {
  if (!modules.includes('nvidia')) return false;
  return loadedVersion === null || libraryVersion === null || loadedVersion === libraryVersion;
}

function toFinding(driver: FactValue<'driver'>): Found {
  const others = otherKernelsWithModule(driver);
  const kernel = driver.runningKernel ?? 'the running kernel';
  const noHeaders = driver.dkms.length > 0 && runningKernel(driver)?.headers === false;
  const failed = driver.dkms.find(({ failedLog }) => failedLog !== null)?.failedLog ?? null;
  const why = noHeaders ? ': its headers are not installed' : failed === null ? '' : ': the build failed';
  return {
    subject: null,
    severity: 'blocker',
    summary: `The NVIDIA module is not built for the running kernel ${kernel}${why}`,
    evidence: [
      { source: sources.moduleOnDisk, quote: `no module nvidia for ${kernel}` },
      ...others.slice(0, 3).map((other) => ({
        source: sources.file(other.folder ?? `/lib/modules/${other.kernel}/kernel`),
        quote: `nvidia module for ${other.kernel}`,
      })),
      ...driver.dkms.slice(0, 3).map(({ name, version, kernel: built, state }) => ({
        source: sources.file(`/var/lib/dkms/${name}/${version}`),
        quote: built === null ? `${name}/${version}: ${state}` : `${name}/${version}, ${built}: ${state}`,
      })),
      ...(noHeaders ? [{ source: sources.headersOf(kernel), quote: 'absent' }] : []),
      ...(failed === null ? [] : [{ source: sources.file(failed), quote: 'a build that failed left its log' }]),
    ],
    remedy:
      failed !== null && !noHeaders
        ? null
        : {
            jobs: [
              { kind: 'repair_packages', params: {} },
              { kind: 'load_modules', params: { modules: ['nvidia', 'nvidia_uvm'] } },
            ],
            approval: 'approve',
          },
    person:
      failed !== null && !noHeaders
        ? `Read ${failed}: this driver may be too old for kernel ${kernel}. Install a newer driver, or boot a kernel that has the module.`
        : null,
  };
}
