import { migDevices, type SimulatedGpu, switchMig } from '../gpus/gpu.ts';
import { isHeld } from '../gpus/holds.ts';
import { migList } from '../gpus/mig-tables.ts';
import { linksOf } from '../gpus/nvlinks.ts';
import { smiXml } from '../gpus/smi-xml.ts';
import { type Machine, nowMs } from '../machine.ts';
import { gpuReset } from './gpu-reset.ts';
import { migChange } from './mig-changes.ts';
import { type Answer, matches, type Program, printed } from './program.ts';

/** Everything goes to stdout, errors too; the exit code is NVML's where it has one. */
export const nvidiaSmi: Program = (machine, args) => {
  if (machine.smiHangs) return 'hangs';
  const refused = initRefusal(machine);
  if (refused) return refused;
  const { driver, gpus } = machine;
  if (!driver) return undefined;
  if (matches(args, '-q', '-x')) {
    return gpus.length ? printed(smiXml(driver, gpus, nowMs(machine))) : printed('No devices were found\n', 6);
  }
  if (matches(args, '-L')) return printed(gpus.length ? gpus.map(listed).join('') : 'No devices found.\n');
  if (args[0] === 'mig') return migList(machine, args.slice(1)) ?? migChange(machine, args.slice(1));
  if (matches(args, 'nvlink', '-s')) return printed(gpus.map(linksOf).join(''));
  if (args.length === 3 && args[0] === '--gpu-reset' && args[1] === '-i') return gpuReset(machine, args[2] ?? '');
  const [option, which, verb, mode] = args;
  if (args.length === 4 && option === '-i' && which !== undefined && verb === '-mig' && mode !== undefined) {
    return setMig(machine, which, mode);
  }
  return undefined;
};

/** What nvmlInit says, before any argument is looked at. */
function initRefusal(machine: Machine): Answer | undefined {
  const { driver } = machine;
  if (!driver?.loaded) {
    return printed(
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n",
      9,
    );
  }
  if (driver.loaded === driver.library) return undefined;
  const library = driver.library.split('.').slice(0, 2).join('.');
  return printed(`Failed to initialize NVML: Driver/library version mismatch\nNVML library version: ${library}\n`, 18);
}

function listed(gpu: SimulatedGpu): string {
  const instances = migDevices(gpu).map(
    ({ profile, compute }, at) =>
      `  MIG ${profile.padEnd(11)} Device ${String(at).padStart(2)}: (UUID: ${compute.uuid})\n`,
  );
  return `GPU ${gpu.minor}: ${gpu.model.name} (UUID: ${gpu.uuid})\n${instances.join('')}`;
}

function setMig(machine: Machine, which: string, mode: string): Answer {
  if (mode !== '0' && mode !== '1') return printed(`Invalid MIG Mode: ${mode}\n`, 2);
  const gpu = machine.gpus.find(
    (one) => one.busId.toLowerCase() === which.toLowerCase() || one.uuid === which || String(one.minor) === which,
  );
  if (!gpu) return printed('No devices were found\n', 6);
  const to = mode === '1' ? 'enabled' : 'disabled';
  const [verb, state, past] = mode === '1' ? ['enable', 'enable', 'Enabled'] : ['disable', 'disable', 'Disabled'];
  const unable = `Unable to ${verb} MIG Mode for GPU ${gpu.busId}`;
  const pending = `Warning: MIG mode is in pending ${state} state for GPU ${gpu.busId}`;
  if (gpu.lost) return printed(`${unable}: GPU is lost\nTerminating early due to previous errors.\n`, 15);
  if (machine.smiChanges === 'denied' && gpu.model.mig)
    return printed(`${unable}: Insufficient Permissions\nTerminating early due to previous errors.\n`, 4);
  if (machine.smiChanges === 'pretended') return printed(`${past} MIG Mode for GPU ${gpu.busId}\nAll done.\n`);
  const change = switchMig(gpu, to, isHeld(machine, gpu));
  machine.effects.push({ atMs: nowMs(machine), do: 'mig', gpu: gpu.uuid, to, ok: change === 'done' });
  switch (change) {
    case 'done':
      return printed(`${past} MIG Mode for GPU ${gpu.busId}\nAll done.\n`);
    case 'not_supported':
      return printed(`${unable}: Not Supported\nTreating as warning and moving on.\nAll done.\n`);
    case 'in_use_refused':
      return printed(`${unable}: In use by another client\nTerminating early due to previous errors.\n`, 19);
    case 'in_use_pending':
      return printed(
        `${pending}:In use by another client\n${gpu.busId} is currently being used by one or more other processes (e.g. CUDA application or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using the device and retry the command or reboot the system to make MIG mode effective.\nAll done.\n`,
      );
    case 'reset_pending':
      return printed(
        `${pending}:GPU requires reset\nReboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU ${gpu.busId}\nAll done.\n`,
      );
  }
}
