import type { KernelModules, ModprobeSetting } from '../probes/driver/fact.ts';
import type { FactValue } from '../probes/facts.ts';
import type { PciGpu } from '../probes/pci/fact.ts';
import type { Asked } from './define-rule.ts';
import { isPassthrough } from './host-questions.ts';

/** Questions that rules about the kernel driver put to the facts. */

type Driver = FactValue<'driver'>;

/** Why it is not known whether the driver answers: the module is there, its version is not. */
export function whyDriverUnknown(asked: Pick<Asked<'driver'>, 'unread'>): string {
  const because = asked.unread('driver', 'loadedVersion') ?? 'the driver does not show it';
  return `the version of the loaded module could not be read: ${because}`;
}

/** GPUs that the host itself is to use: those of its virtual machines are none of the driver's business. */
export function gpusOfHost(pci: FactValue<'pci'>): PciGpu[] {
  return pci.gpus.filter((gpu) => !isPassthrough(gpu.driver) && !isPassthrough(gpu.driverOverride));
}

export function runningKernel(driver: Driver): KernelModules | null {
  return driver.kernels.find(({ running }) => running) ?? null;
}

/** The running kernel's module is on the disk, whether or not the index of modules knows it already. */
export function hasModuleOnDisk(driver: Driver): boolean {
  return driver.onDiskVersion !== null || (runningKernel(driver)?.modules.includes('nvidia') ?? false);
}

export function otherKernelsWithModule(driver: Driver): KernelModules[] {
  return driver.kernels.filter(({ running, modules }) => !running && modules.includes('nvidia'));
}

/** The driver lives in a container of its own: module and nodes are its business, and the host has no library. */
export function isDriverOfContainer(driver: Driver): boolean {
  return driver.libraryPath === null && driver.otherLibraries.length > 0;
}

/** A kernel that is newer than the running one, and would be booted next, without a module. */
export function newerKernelWithoutModule(driver: Driver): KernelModules | null {
  const newest = [...driver.kernels].sort((a, b) => compareKernels(b.kernel, a.kernel))[0];
  return newest && !newest.running && !newest.modules.includes('nvidia') ? newest : null;
}

function compareKernels(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => (text.match(/\d+/g) ?? []).map(Number));
  for (let at = 0; at < Math.max(left?.length ?? 0, right?.length ?? 0); at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Settings that keep a module out. A blacklist takes away only the loading by device, which is how `nvidia` comes and
 * `nvidia_uvm` does not; an `install` line that runs modprobe itself blocks nothing.
 */
export function blockersOf(driver: Driver, module: 'nvidia' | 'nvidia_uvm'): ModprobeSetting[] {
  return driver.modprobe.filter((setting) => {
    if (setting.module !== module) return false;
    if (setting.directive === 'kernel_blacklist') return true;
    if (setting.directive === 'blacklist') return module === 'nvidia';
    if (setting.directive === 'alias') return /\soff$/.test(setting.text);
    return (
      setting.directive === 'install' &&
      /\s(?:(?:\/usr)?\/bin\/(?:true|false)|true|false|:|exit \d+)$/.test(setting.text)
    );
  });
}

/** Where a setting stands: a line of a file, or a word of the kernel's command line. */
export function placeOf({ file, line }: ModprobeSetting): string {
  return file === '/proc/cmdline' ? "the kernel's command line" : `line ${line} of ${file}`;
}

/** What says that a GPU is kept for virtual machines: reserved ids on the command line or for vfio-pci. */
export function reservationOf(
  gpu: PciGpu,
  pci: FactValue<'pci'>,
  driver: Driver,
): { file: string; quote: string } | null {
  const id = `${gpu.vendorId}:${gpu.deviceId}`;
  if (pci.passthroughIds.includes(id)) return { file: '/proc/cmdline', quote: `ids=…${id}` };
  const setting = driver.modprobe.find(
    ({ module, directive, text }) =>
      module === 'vfio_pci' && directive === 'options' && text.toLowerCase().includes(id),
  );
  if (setting) return { file: setting.file, quote: setting.text };
  if (gpu.driverOverride === null) return null;
  return { file: `/sys/bus/pci/devices/${gpu.address}/driver_override`, quote: gpu.driverOverride };
}
