import type { FactValue } from '../probes/facts.ts';
import { bootLayoutPath, bootUnit, bootUnitPath, bootUnitText } from '../probes/mig-boot/boot-unit.ts';
import type { BootGpu, MigBootFact } from '../probes/mig-boot/fact.ts';
import { renderBootLayout } from '../probes/mig-boot/parse-boot-layout.ts';
import { isOlderThan } from '../probes/versions.ts';
import type { Also } from './define-job.ts';
import { gpuProblem, nameOfGpu } from './gpu-choice.ts';
import { reason } from './plan-parts.ts';
import type { PlanReason, Step, StepOf } from './step.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];
type Jetson = FactValue<'jetson'>;
export type Mode = 'enabled' | 'disabled';

/** The first L4T on which Thor's GPU can be split. */
const thorMigSince = [39, 2];
const refreshUnit = 'nvidia-cdi-refresh.service';

/** Why the GPU can have no MIG, or must not be touched. */
export function migProblem(gpu: Gpu, { isTegra, l4t }: Jetson, to: Mode): PlanReason | null {
  const problem = gpuProblem(gpu);
  if (problem) return problem;
  const name = nameOfGpu(gpu);
  if (isTegra && gpu.name?.includes('(nvgpu)')) return reason('integrated_gpu', `${name}: this GPU has no MIG`);
  if (isTegra && to === 'enabled' && isOlderThan(l4t, thorMigSince))
    return reason('not_mig_capable', `${name}: MIG on this board needs L4T 39.2 (JetPack 7.2), and it has ${l4t}`);
  if (gpu.mig.current === null) return reason('not_mig_capable', `${name} has no MIG, or does not tell`);
  return null;
}

export function hasMode({ mig }: Gpu, mode: Mode): boolean {
  return mig.current === mode && mig.pending === mode;
}

/**
 * The driver resets an idle GPU itself where that is needed (Ampere) and needs none from Hopper on; where it leaves the
 * mode pending all the same, the reset is asked for.
 */
export function modeSteps({ uuid, mig }: Gpu, to: Mode): Step[] {
  if (uuid === null || mig.current === null) return [];
  return [
    { do: 'set_mig_mode', gpuUuid: uuid, from: mig.current, to, mayPend: true },
    { do: 'reset_gpu', gpuUuids: [uuid], when: 'mig_pending' },
  ];
}

/** What is on the GPU now, as a step can make it again; null: the driver did not tell. */
export function instancesOf(gpu: Gpu, profiles: FactValue<'mig_profiles'> | null): MigInstances | null {
  if (gpu.mig.current !== 'enabled') return [];
  const found = profiles?.gpus.find(({ index }) => index === gpu.index)?.gpuInstances;
  if (!found) return null;
  const instances = found.map(({ profile, profileId, start, computeInstances }) => {
    if (computeInstances === null) return null;
    const isWhole = computeInstances.length === 1 && computeInstances[0]?.profile === profile;
    return { profile, profileId, start, computes: isWhole ? null : computeInstances.map((one) => one.profileId) };
  });
  return instances.every((one) => one !== null) ? instances : null;
}

export type MigInstances = StepOf<'set_mig_instances'>['to'];

/** From Hopper on a mode is gone with the driver; one that the GPU remembers is not what another program sets at boot. */
export function modeLastsBoots({ architecture }: Gpu, units: Also['units']): boolean {
  return architecture === 'Ampere' && !isManaged(units);
}

/** NVIDIA's own unit lays the GPUs out at each boot. */
export function isManaged(units: Also['units']): boolean {
  const manager = units?.units.find(({ name }) => name === 'nvidia-mig-manager.service');
  return manager?.enabled?.startsWith('enabled') ?? false;
}

/** The driver resets a GPU of this family when its mode is changed. */
export function isResetByMode({ architecture }: Gpu): boolean {
  return architecture === 'Ampere' || architecture === null;
}

/** Makes the next boots give the GPUs what they get now. `null`: the boot need not do anything for the GPU. */
export function bootSteps(
  fact: MigBootFact,
  changes: ReadonlyMap<string, BootGpu | null>,
): { ok: true; steps: Step[] } | { ok: false; because: PlanReason } {
  const { layoutFile, layout, unitFile, unitIsCurrent, enabled } = fact;
  if (layoutFile.present && layout === null)
    return {
      ok: false,
      because: reason('boot_layout_invalid', `${layoutFile.path}: ${layoutFile.error ?? 'could not be read'}`),
    };
  const kept = (layout?.gpus ?? []).filter(({ uuid }) => !changes.has(uuid));
  const gpus = [...kept, ...[...changes.values()].filter((gpu) => gpu !== null)];
  const contents = renderBootLayout({ format: 1, gpus });
  const isThere = layout === null ? gpus.length === 0 : contents === renderBootLayout(layout);
  const steps: Step[] = [];
  if (!isThere)
    steps.push({ do: 'write_file', path: bootLayoutPath, baseSha256: layoutFile.sha256, contents, newMode: 0o644 });
  if (gpus.length === 0) return { ok: true, steps };
  if (!unitIsCurrent) {
    const { sha256: baseSha256 } = unitFile;
    steps.push(
      { do: 'write_file', path: bootUnitPath, baseSha256, contents: bootUnitText, newMode: 0o644 },
      { do: 'reload_units' },
    );
  }
  if (enabled !== true) steps.push({ do: 'enable_unit', unit: bootUnit });
  return { ok: true, steps };
}

/** What engines are told of devices goes stale with the devices, and nothing but this notices. */
export function refreshSteps(cdi: Also['cdi']): Step[] {
  return cdi?.refresh.service?.loadState === 'loaded' ? [{ do: 'run_unit', unit: refreshUnit, timeoutMs: 60_000 }] : [];
}
