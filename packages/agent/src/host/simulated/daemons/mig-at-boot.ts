import { bootLayoutPath, parseBootLayout } from '@gpufleet/shared/probes';
import { addInstance, resetGpu, type SimulatedGpu, switchMig } from '../gpus/gpu.ts';
import { isHeld } from '../gpus/holds.ts';
import { migOffers } from '../gpus/mig-offers.ts';
import type { Machine } from '../machine.ts';
import type { Started } from '../unit.ts';

/** What nvidia-mig-manager.service was told to make at each boot. */
const managed = new WeakMap<Machine, Map<string, readonly string[]>>();

export function manageLayouts(machine: Machine): void {
  const layouts = machine.gpus
    .filter(({ mig }) => mig.current === 'enabled')
    .map(({ uuid, mig }) => [uuid, mig.instances.map(({ profile, start }) => `${profile}@${start}`)] as const);
  managed.set(machine, new Map(layouts));
}

export function startMigManager(machine: Machine): Started {
  for (const [uuid, places] of managed.get(machine) ?? []) {
    const gpu = machine.gpus.find((one) => one.uuid === uuid);
    // What is there already is left alone.
    if (gpu && gpu.mig.instances.length === 0) makeLayout(machine, gpu, true, places);
  }
  return { ok: true };
}

/** gpufleet-mig.service, which runs `gpufleet-agent apply-mig-layout`. */
export function startMigLayout(machine: Machine): Started {
  const parsed = parseBootLayout(machine.files.text(bootLayoutPath) ?? '');
  if (!parsed.ok) return { ok: false, log: `gpufleet-agent: ${bootLayoutPath}: ${parsed.error}` };
  if (machine.smiChanges !== 'made') return { ok: false, log: 'gpufleet-agent: the driver refuses' };
  for (const { uuid, enabled, instances } of parsed.layout.gpus) {
    const gpu = machine.gpus.find((one) => one.uuid === uuid);
    const places = instances?.map(({ profile, start }) => `${profile}@${start}`) ?? null;
    if (gpu) makeLayout(machine, gpu, enabled, places);
  }
  return { ok: true };
}

function makeLayout(machine: Machine, gpu: SimulatedGpu, enabled: boolean, places: readonly string[] | null): void {
  switchMig(gpu, enabled ? 'enabled' : 'disabled', isHeld(machine, gpu));
  if (gpu.mig.pending !== gpu.mig.current) resetGpu(gpu);
  if (gpu.mig.current === 'disabled' || places === null) return;
  const nameOf = ({ profile, start }: { profile: string; start: number }) => `${profile}@${start}`;
  gpu.mig.instances = gpu.mig.instances.filter((one) => places.includes(nameOf(one)));
  for (const place of places) {
    if (gpu.mig.instances.some((one) => nameOf(one) === place)) continue;
    const [profile, start] = place.split('@');
    const offer = migOffers(gpu).find(({ name }) => name === profile);
    const uuid = `MIG-${machine.random.uuid(`${gpu.uuid}/boot/${machine.boot.count}/${place}`)}`;
    if (offer) addInstance(gpu, offer.name, Number(start), [uuid]);
  }
}
