import { bootGpu } from './gpus/gpu.ts';
import { bootModules } from './kernel-modules.ts';
import { type Machine, nowMs } from './machine.ts';
import { notedMode } from './programs/nvpmodel.ts';
import { bootUnits } from './systemd.ts';

/** What was written is there afterwards (every write is synced), nothing that ran is. */
export function boot(machine: Machine, how: 'reboot' | 'power_cut'): void {
  machine.effects.push({ atMs: nowMs(machine), do: how, ok: true });
  machine.boot = {
    id: machine.random.uuid(`boot/${machine.boot.count + 1}`),
    atMs: machine.clock.nowMs(),
    atMonotonicMs: machine.clock.monotonicMs(),
    count: machine.boot.count + 1,
  };
  // In memory, as all of /run: the refresh service makes its specification anew.
  machine.files.remove('/run/cdi');
  bootModules(machine);
  if (machine.powerMode !== null) machine.powerMode = notedMode(machine) ?? machine.powerMode;
  for (const gpu of machine.gpus) {
    gpu.clients = [];
    gpu.lost = false;
    if (gpu.fabric) gpu.fabric = 'in_progress';
    bootGpu(gpu);
  }
  bootUnits(machine);
}
