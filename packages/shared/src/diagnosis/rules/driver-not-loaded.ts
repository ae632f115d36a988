import { defineRule } from '../define-rule.ts';
import { gpusOfHost, hasModuleOnDisk, isDriverOfContainer } from '../driver-questions.ts';
import { sources } from '../sources.ts';

export const driverNotLoaded = defineRule({
  code: 'DRIVER_NOT_LOADED',
  layer: 'driver',
  severity: 'blocker',
  title: 'The nvidia module is on disk for the running kernel, nothing keeps it out, and it is not loaded',
  notWhen: 'it is loaded; another driver or a virtual machine has the GPU; a driver in a container; Tegra; WSL',
  proposes: ['load_modules'],
  needs: ['pci', 'driver', 'os'],
  onTegra: 'never',
  consequenceOf: [
    'DRIVER_MODULE_REJECTED',
    'DRIVER_MODULE_BLOCKED',
    'DRIVER_BRANCH_UNSUPPORTED_GPU',
    'DRIVER_FLAVOUR_UNSUPPORTED',
    'DRIVER_PACKAGES_INCONSISTENT',
    'GPU_BOUND_TO_OTHER_DRIVER',
    'GPU_INIT_FAILED',
    'GPU_OFF_BUS',
  ],
  excludedBy: ({ pci, driver, os }) =>
    (pci !== null && gpusOfHost(pci).length === 0) ||
    os?.virtualisation === 'wsl' ||
    (driver !== null && (driver.loadedVersion !== null || !hasModuleOnDisk(driver) || isDriverOfContainer(driver))),
  check({ pci, driver }, asked) {
    const unread = asked.unread('driver', 'loadedVersion') ?? asked.unread('driver', 'modules');
    if (unread) return { cannotTell: `whether the driver is loaded could not be read: ${unread}` };
    const idle = gpusOfHost(pci).filter((gpu) => gpu.driver === null);
    if (driver.modules.includes('nvidia') || idle.length === 0) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary:
          `The driver ${driver.onDiskVersion ?? ''} is installed and not loaded: no GPU of this host works`.replace(
            '  ',
            ' ',
          ),
        evidence: [
          { source: sources.modules, quote: '(no line begins with nvidia)' },
          { source: sources.moduleOnDisk, quote: driver.onDiskVersion ?? 'a module of the running kernel' },
          ...idle.slice(0, 4).map(({ address }) => ({
            source: sources.pciDriver(address),
            quote: '(no such link: no driver holds it)',
          })),
        ],
        remedy: {
          jobs: [{ kind: 'load_modules', params: { modules: ['nvidia', 'nvidia_uvm'] } }],
          approval: 'approve',
        },
        person: null,
      },
    ];
  },
});
