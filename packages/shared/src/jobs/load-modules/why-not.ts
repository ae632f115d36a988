import {
  blockersOf,
  gpusOfHost,
  hasModuleOnDisk,
  isDriverOfContainer,
  placeOf,
  runningKernel,
} from '../../diagnosis/driver-questions.ts';
import type { Also } from '../define-job.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason } from '../step.ts';
import type { Facts } from './plan.ts';

const otherDrivers = ['nouveau', 'nova_core', 'nova_drm'];

/** Why these modules cannot be loaded here, or null. */
export function whyNot(facts: Facts, missing: readonly string[], also: Also): PlanReason | null {
  const { driver, pci, jetson } = facts;
  const { os, kernel_log: log } = also;
  if (jetson.isTegra) return reason('board_own_stack', 'a Jetson loads its modules itself, with its own release');
  if (os?.insideContainer && os.virtualisation !== null)
    return reason('inside_container', 'modules and nodes come from the machine that runs this container');
  if (pci.gpus.length === 0 && pci.nvswitches.length === 0)
    return reason('no_gpus', 'there is no NVIDIA GPU on the bus');
  if (isDriverOfContainer(driver))
    return reason('driver_of_container', 'the driver lives in a container of its own, which loads its modules');
  if (pci.gpus.length > 0 && gpusOfHost(pci).length === 0)
    return reason('gpus_kept_for_guests', 'every GPU is kept for virtual machines');
  const holder = gpusOfHost(pci).find((gpu) => gpu.driver !== null && otherDrivers.includes(gpu.driver));
  const other = holder?.driver ?? (missing.includes('nvidia') ? driver.modules.find(isOther) : undefined);
  if (other !== undefined)
    return reason('other_driver', `${other} holds the GPU: a person blacklists it, and the host boots again`);
  const own = missing.filter((name) => name.startsWith('nvidia'));
  if (own.length === 0) return null;
  return whyNotOwn(driver, own) ?? whyRejected(facts, os ?? null, log ?? null);
}

function isOther(name: string): boolean {
  return otherDrivers.includes(name);
}

function whyNotOwn(driver: Facts['driver'], missing: readonly string[]): PlanReason | null {
  const kernel = runningKernel(driver);
  const notBuilt = missing.find((name) =>
    name === 'nvidia' ? !hasModuleOnDisk(driver) : kernel !== null && !kernel.modules.includes(name),
  );
  if (notBuilt)
    return reason('module_not_built', `there is no ${notBuilt} for kernel ${driver.runningKernel ?? 'that runs'}`);
  for (const name of ['nvidia', 'nvidia_uvm'] as const) {
    const [blocker] = missing.includes(name) ? blockersOf(driver, name) : [];
    if (blocker) return reason('module_blocked', `${placeOf(blocker)} keeps ${name} out: ${blocker.text}`);
  }
  const { loadedVersion, onDiskVersion } = driver;
  if (loadedVersion !== null && onDiskVersion !== null && loadedVersion !== onDiskVersion)
    return reason(
      'driver_not_current',
      `driver ${loadedVersion} is loaded and ${onDiskVersion} on the disk: reboot_host comes first`,
    );
  return null;
}

/** The kernel refuses what was signed by nobody it knows, however often it is asked. */
function whyRejected(
  { driver }: Facts,
  os: NonNullable<Also['os']> | null,
  log: NonNullable<Also['kernel_log']> | null,
): PlanReason | null {
  const refused = log?.events.some(({ kind }) => kind === 'module_rejected') ?? false;
  if (!refused || os?.secureBoot === false || driver.modules.includes('nvidia')) return null;
  return reason('module_rejected', 'Secure Boot refuses the module: its key is enrolled at the console, by a person');
}
