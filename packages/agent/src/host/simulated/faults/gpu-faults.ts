import { installLibrary, libraryFolder } from '../classes/nvidia.ts';
import { applyPendingMig } from '../gpus/gpu.ts';
import { inThePast } from '../machine.ts';
import { discrete, hour, restart, type SimulatedFault, withGpu } from './fault.ts';

/** Driver and GPU. */
export const gpuFaults = {
  driver_library_mismatch: {
    title: 'the driver was upgraded by unattended upgrades and the machine not rebooted',
    code: 'DRIVER_LIBRARY_MISMATCH',
    classes: discrete,
    apply(machine) {
      const { driver } = machine;
      if (!driver) return;
      const newer = nextVersion(driver.onDisk);
      inThePast(machine, 3 * hour, () => installLibrary(machine, libraryFolder(machine), newer));
      driver.onDisk = newer;
      driver.library = newer;
    },
    repair(machine) {
      if (machine.driver) machine.driver.loaded = machine.driver.onDisk;
      const refresh = machine.units.get('nvidia-cdi-refresh.service');
      if (refresh) restart(machine, refresh);
    },
    isPresent: ({ driver }) => driver !== null && driver.loaded !== driver.library,
  },
  mig_change_pending: {
    title: 'MIG mode was switched off while a program held the GPU',
    code: 'MIG_CHANGE_PENDING',
    classes: ['a100-mig'],
    apply(machine) {
      const gpu = machine.gpus[0];
      if (!gpu) return;
      const instance = gpu.mig.instances[0]?.gpuInstanceId ?? null;
      const pid = 4000 + machine.random.int('mig-client', 20_000);
      gpu.clients = [{ pid, name: 'python3', usedMiB: 6120, gpuInstanceId: instance }];
      gpu.mig.pending = gpu.mig.current === 'enabled' ? 'disabled' : 'enabled';
    },
    repair({ gpus }) {
      for (const gpu of gpus) Object.assign(gpu, { clients: [], mig: { ...gpu.mig, pending: gpu.mig.current } });
    },
    isPresent: ({ gpus }) => gpus.some(({ mig }) => mig.current !== mig.pending),
  },
  gpu_lost: {
    title: 'a GPU has fallen off the bus',
    code: 'GPU_OFF_BUS',
    classes: discrete,
    apply({ gpus }) {
      const last = gpus[gpus.length - 1];
      if (last) last.lost = true;
    },
    repair({ gpus }) {
      for (const gpu of gpus) gpu.lost = false;
    },
    isPresent: ({ gpus }) => gpus.some(({ lost }) => lost),
  },
  mig_reset_required: {
    title: 'a change of the MIG mode stays pending until the GPU is reset, as on a passed-through GPU',
    code: null,
    classes: ['a100-mig', 'h100-mig'],
    apply({ gpus }) {
      for (const gpu of gpus) gpu.migNeedsReset = true;
    },
    repair({ gpus }) {
      for (const gpu of gpus) {
        gpu.migNeedsReset = false;
        applyPendingMig(gpu);
      }
    },
    isPresent: ({ gpus }) => gpus.some(({ migNeedsReset }) => migNeedsReset),
  },
  nvidia_smi_denied: {
    title: 'nvidia-smi may look at GPUs and change nothing',
    code: null,
    classes: withGpu,
    apply: (machine) => void Object.assign(machine, { smiChanges: 'denied' }),
    repair: (machine) => void Object.assign(machine, { smiChanges: 'made' }),
    isPresent: ({ smiChanges }) => smiChanges === 'denied',
  },
  nvidia_smi_pretends: {
    title: 'nvidia-smi says that it has changed what it has not, with exit code 0',
    code: null,
    classes: withGpu,
    apply: (machine) => void Object.assign(machine, { smiChanges: 'pretended' }),
    repair: (machine) => void Object.assign(machine, { smiChanges: 'made' }),
    isPresent: ({ smiChanges }) => smiChanges === 'pretended',
  },
  nvidia_smi_hangs: {
    title: 'nvidia-smi does not come back',
    code: null,
    classes: withGpu,
    apply(machine) {
      machine.smiHangs = true;
    },
    repair(machine) {
      machine.smiHangs = false;
    },
    isPresent: ({ smiHangs }) => smiHangs,
  },
} as const satisfies Record<string, SimulatedFault>;

/** `550.163.01` → `550.164.01`: the next release of the same branch. */
function nextVersion(version: string): string {
  const [branch, minor, ...rest] = version.split('.');
  return [branch, String(Number(minor) + 1), ...rest].join('.');
}
