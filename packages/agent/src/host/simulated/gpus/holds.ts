import type { Machine } from '../machine.ts';
import type { SimulatedGpu } from './gpu.ts';

/** A program or a monitoring service has the GPU open: the driver changes nothing under it. */
export function isHeld({ units }: Machine, gpu: SimulatedGpu): boolean {
  return gpu.clients.length > 0 || units.get('nvidia-dcgm.service')?.active === 'active';
}

/** A reset wants everybody out. */
export function blocksReset(machine: Machine, gpu: SimulatedGpu): boolean {
  return isHeld(machine, gpu) || machine.units.get('nvidia-persistenced.service')?.active === 'active';
}
