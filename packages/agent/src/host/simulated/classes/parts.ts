import type { Machine } from '../machine.ts';
import { installCdi } from './cdi.ts';
import { installDriverSurroundings } from './driver.ts';
import { installKernelLog } from './kernel-log.ts';
import { installDevicePlugin } from './kube.ts';
import { installNetwork } from './network.ts';
import { installPackageManager } from './packages.ts';
import { installStorageAndTime } from './storage-and-time.ts';
import { installWorkloads } from './workloads.ts';

/** What any machine has beside what its class names, derived from what is installed on it. One file for each family. */
type Part = (machine: Machine) => void;

/** In the order in which they are put on the machine, after its class. */
const parts: readonly Part[] = [
  installDriverSurroundings,
  installPackageManager,
  installStorageAndTime,
  installNetwork,
  installCdi,
  installKernelLog,
  installDevicePlugin,
  installWorkloads,
];

export function installParts(machine: Machine): void {
  for (const install of parts) install(machine);
}
