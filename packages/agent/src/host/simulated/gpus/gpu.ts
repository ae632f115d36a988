import type { Seeded } from '../seeded.ts';
import { type GpuModel, type GpuModelName, gpuModels, type MigProfileName, migProfile } from './models.ts';

/** The three places where a driver version lives; they differ after an upgrade without a reboot. */
export interface Driver {
  /** Version of the module in the kernel; null: not loaded. */
  loaded: string | null;
  onDisk: string;
  library: string;
  cuda: string;
  flavour: 'open' | 'proprietary';
}

export interface MigInstance {
  profile: MigProfileName;
  gpuInstanceId: number;
  uuid: string;
}

export interface GpuClient {
  pid: number;
  name: string;
  usedMiB: number;
  gpuInstanceId: number | null;
}

export interface SimulatedGpu {
  model: GpuModel;
  minor: number;
  /** As nvidia-smi spells it; "N/A" where the GPU is not on a bus. */
  busId: string;
  uuid: string;
  serial: string;
  pdi: string;
  mig: { current: 'enabled' | 'disabled'; pending: 'enabled' | 'disabled'; instances: MigInstance[] };
  clients: GpuClient[];
  lost: boolean;
  /** Whether the GPU has joined the fabric of its NVSwitches; null: there is none. */
  fabric: 'in_progress' | 'completed' | null;
  /** A mode change always ends in "GPU requires reset", as on a passed-through GPU. */
  migNeedsReset: boolean;
}

export function createGpu(
  random: Seeded,
  modelName: GpuModelName,
  minor: number,
  layout: readonly MigProfileName[] | null,
): SimulatedGpu {
  const model = gpuModels[modelName];
  const label = `gpu/${minor}`;
  const firstBus = 0x10 + minor * 0x20;
  const bus = (firstBus + random.int(`${label}/bus`, Math.min(0x1f, 0x100 - firstBus)))
    .toString(16)
    .toUpperCase()
    .padStart(2, '0');
  const mode = layout === null ? 'disabled' : 'enabled';
  return {
    model,
    minor,
    busId: model.kind === 'orin' ? 'N/A' : model.kind === 'thor' ? '00000000:01:00.0' : `00000000:${bus}:00.0`,
    uuid: `GPU-${random.uuid(`${label}/uuid`)}`,
    serial: model.kind === 'discrete' ? `1${random.digits(`${label}/serial`, 12)}` : 'N/A',
    pdi: `0x${random.hex(`${label}/pdi`, 16)}`,
    mig: { current: mode, pending: mode, instances: instancesOf(random, label, layout ?? []) },
    clients: [],
    lost: false,
    fabric: null,
    migNeedsReset: false,
  };
}

/** GPU instance ids belong to size classes, they are not 1, 2, 3. */
function instancesOf(random: Seeded, label: string, layout: readonly MigProfileName[]): MigInstance[] {
  const next: Record<number, number> = { 7: 0, 4: 1, 3: 1, 2: 3, 1: 7 };
  return layout.map((profile, at) => {
    const { slices } = migProfile(profile);
    const id = next[slices] ?? 0;
    next[slices] = id + 1;
    return { profile, gpuInstanceId: id, uuid: `MIG-${random.uuid(`${label}/mig/${at}`)}` };
  });
}

export type MigChange = 'done' | 'in_use_pending' | 'in_use_refused' | 'reset_pending' | 'not_supported';

/** What the driver does with a request to switch MIG, by architecture. */
export function switchMig(gpu: SimulatedGpu, to: 'enabled' | 'disabled'): MigChange {
  if (!gpu.model.mig) return 'not_supported';
  if (gpu.mig.current === to) {
    gpu.mig.pending = to;
    return 'done';
  }
  // Hopper and later switch at once or not at all; Ampere needs a reset, which clients hold up.
  if (gpu.clients.length > 0 && gpu.model.mig.family === 'hopper') return 'in_use_refused';
  gpu.mig.pending = to;
  if (gpu.migNeedsReset) return 'reset_pending';
  if (gpu.clients.length > 0) return 'in_use_pending';
  applyPendingMig(gpu);
  return 'done';
}

/** What a reset or a boot does: the pending mode becomes the mode; instances do not outlive a change of it. */
export function applyPendingMig(gpu: SimulatedGpu): void {
  if (gpu.mig.current !== gpu.mig.pending) gpu.mig.instances = [];
  gpu.mig.current = gpu.mig.pending;
}
