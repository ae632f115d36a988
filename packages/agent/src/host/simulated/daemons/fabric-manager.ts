import type { Machine } from '../machine.ts';
import type { Started } from '../unit.ts';

/** Trains the links and lets the GPUs join; refuses a driver of another version, and a machine without switches. */
export function startFabricManager(machine: Machine): Started {
  const { driver, versions, nvswitches, gpus } = machine;
  if (nvswitches.length === 0)
    return {
      ok: false,
      log: 'Request to query NVSwitch device information from NVSwitch driver failed: nothing to do',
    };
  if (!driver?.loaded || driver.loaded !== versions.fabricManager)
    return {
      ok: false,
      log: 'fabric manager version is incompatible with NVSwitch driver. Please update with matching NVIDIA driver package',
    };
  for (const gpu of gpus) if (!gpu.lost && gpu.fabric) gpu.fabric = 'completed';
  return { ok: true };
}
