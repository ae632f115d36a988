import { resetGpu, type SimulatedGpu } from '../gpus/gpu.ts';
import { blocksReset } from '../gpus/holds.ts';
import { printk } from '../kernel-log.ts';
import { type Machine, nowMs } from '../machine.ts';
import { type Answer, printed } from './program.ts';

/** `nvidia-smi --gpu-reset -i GPU[,GPU]`. */
export function gpuReset(machine: Machine, which: string): Answer {
  const gpus = which
    .split(',')
    .map((name) => machine.gpus.find((gpu) => [gpu.uuid, gpu.busId, String(gpu.minor)].includes(name)));
  const found = gpus.filter((gpu) => gpu !== undefined);
  if (found.length < gpus.length) return printed('No devices were found\n', 6);
  if (machine.smiChanges === 'denied') return printed(couldNot(found, 'Insufficient Permissions'), 4);
  const tegra = found.find(({ model }) => model.kind !== 'discrete');
  if (tegra) return printed(`Resetting GPU ${tegra.busId} is not supported.\n`, 3);
  const busy = found.filter((gpu) => blocksReset(machine, gpu));
  if (busy.length > 0) {
    const devices = busy.length === 1 ? '1 device is' : `${busy.length} devices are`;
    const them = busy.length === 1 ? 'this device' : 'these devices';
    return printed(
      `${couldNot(busy, 'In use by another client')}\n${devices} currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using ${them} and all compute applications running in the system.\n`,
      255,
    );
  }
  for (const gpu of found) {
    const made = machine.smiChanges === 'made';
    machine.effects.push({ atMs: nowMs(machine), do: 'gpu_reset', gpu: gpu.uuid, to: 'reset', ok: made });
    if (!made) continue;
    resetGpu(gpu);
    gpu.lost = false;
    printk(machine, `nvidia ${gpu.busId.slice(4).toLowerCase()}: reset done`);
  }
  return printed(`${found.map((gpu) => `GPU ${gpu.busId} was successfully reset.\n`).join('')}All done.\n`);
}

function couldNot(gpus: readonly SimulatedGpu[], words: string): string {
  return `The following GPUs could not be reset:\n${gpus.map(({ busId }) => `  GPU ${busId}: ${words}\n`).join('')}`;
}
