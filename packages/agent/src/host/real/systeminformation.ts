import type { Read } from '@gpufleet/shared/host';
import { asRead, HostFault } from '../errno.ts';

/**
 * The functions of systeminformation that start no process on Linux; the test runs each under strace. Most others do:
 * time, osInfo, currentLoad, networkStats, fsSize and cpu among them, and graphics even runs nvidia-smi.
 */
export const PROCESSLESS = ['battery', 'fsOpenFiles', 'fullLoad', 'mem'] as const;
type Processless = (typeof PROCESSLESS)[number];

export function readSystemInformation(name: string): Promise<Read<unknown>> {
  return asRead(async () => {
    if (!isProcessless(name)) throw new HostFault('ENOENT', `systeminformation's ${name} is not one that may be used`);
    // Loaded when it is first needed: it is large, and most starts of the agent never ask.
    const library = await import('systeminformation');
    return await library.default[name]();
  });
}

function isProcessless(name: string): name is Processless {
  return PROCESSLESS.some((known) => known === name);
}
