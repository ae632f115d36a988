import type { Seeded } from '../seeded.ts';
import { freeStart, migOffers, placedInstances } from './mig-offers.ts';
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
  /** First slice of memory. */
  start: number;
  /** Each is a MIG device that a program can use. */
  computes: { id: number; slices: number; uuid: string }[];
}

export interface GpuClient {
  pid: number;
  name: string;
  usedMiB: number;
  gpuInstanceId: number | null;
  /** Id of docker's container that it runs in. */
  containerId?: string;
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
  const gpu: SimulatedGpu = {
    model,
    minor,
    busId: model.kind === 'orin' ? 'N/A' : model.kind === 'thor' ? '00000000:01:00.0' : `00000000:${bus}:00.0`,
    uuid: `GPU-${random.uuid(`${label}/uuid`)}`,
    serial: model.kind === 'discrete' ? `1${random.digits(`${label}/serial`, 12)}` : 'N/A',
    pdi: `0x${random.hex(`${label}/pdi`, 16)}`,
    mig: { current: mode, pending: mode, instances: [] },
    clients: [],
    lost: false,
    fabric: null,
    migNeedsReset: false,
  };
  for (const [at, profile] of (layout ?? []).entries()) {
    const offer = migOffers(gpu).find(({ name }) => name === profile);
    const start = offer && freeStart(placedInstances(gpu), offer);
    if (start !== undefined) addInstance(gpu, profile, start, [`MIG-${random.uuid(`${label}/mig/${at}`)}`]);
  }
  return gpu;
}

/** GPU instance ids belong to size classes, they are not 1, 2, 3. One UUID: a compute instance of all that it has. */
export function addInstance(gpu: SimulatedGpu, profile: MigProfileName, start: number, uuids: string[]): MigInstance {
  const first: Record<number, number> = { 7: 0, 4: 1, 3: 1, 2: 3, 1: 7 };
  const { slices } = migProfile(profile);
  const taken = gpu.mig.instances.map(({ gpuInstanceId }) => gpuInstanceId);
  let id = first[slices] ?? 0;
  while (taken.includes(id)) id += 1;
  const computes = uuids.map((uuid, at) => ({ id: at, slices, uuid }));
  const instance = { profile, gpuInstanceId: id, start, computes };
  gpu.mig.instances.push(instance);
  return instance;
}

/** What programs can use: one device for each compute instance. */
export function migDevices({ mig }: SimulatedGpu) {
  return mig.instances.flatMap((instance) =>
    instance.computes.map((compute) => {
      const isWhole = compute.slices === migProfile(instance.profile).slices;
      return { instance, compute, profile: isWhole ? instance.profile : `${compute.slices}c.${instance.profile}` };
    }),
  );
}

export type MigChange = 'done' | 'in_use_pending' | 'in_use_refused' | 'reset_pending' | 'not_supported';

/** What the driver does with a request to switch MIG, by architecture. */
export function switchMig(gpu: SimulatedGpu, to: 'enabled' | 'disabled', held: boolean): MigChange {
  if (!gpu.model.mig) return 'not_supported';
  if (gpu.mig.current === to) {
    gpu.mig.pending = to;
    return 'done';
  }
  // Hopper and later switch at once or not at all; Ampere needs a reset, which clients hold up.
  if (held && gpu.model.mig.family === 'hopper') return 'in_use_refused';
  gpu.mig.pending = to;
  if (gpu.migNeedsReset) return 'reset_pending';
  if (held) return 'in_use_pending';
  applyPendingMig(gpu);
  return 'done';
}

/** The pending mode becomes the mode; instances do not outlive a change of it. */
export function applyPendingMig(gpu: SimulatedGpu): void {
  if (gpu.mig.current !== gpu.mig.pending) gpu.mig.instances = [];
  gpu.mig.current = gpu.mig.pending;
}

/** What a reset does: no instance outlives it. */
export function resetGpu(gpu: SimulatedGpu): void {
  applyPendingMig(gpu);
  gpu.mig.instances = [];
}

/** What a boot does: only the boards of the Ampere family remember a mode. */
export function bootGpu(gpu: SimulatedGpu): void {
  if (gpu.model.mig?.family === 'hopper') gpu.mig.pending = 'disabled';
  resetGpu(gpu);
}
