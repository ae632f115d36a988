import { z } from 'zod';
import { busAddress } from '../diagnosis/host-questions.ts';
import type { FactValue } from '../probes/facts.ts';
import { reason } from './plan-parts.ts';
import type { PlanReason } from './step.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];

/** A UUID, a place on the bus in either spelling, or `index-N` where a GPU tells neither. */
export const GpuName = z.string().min(1).max(128);
export const GpuChoice = z.union([z.literal('all'), z.array(GpuName).min(1).max(64)]);
export type GpuChoice = z.infer<typeof GpuChoice>;

export function chooseGpus(
  all: readonly Gpu[],
  asked: GpuChoice,
): { ok: true; gpus: Gpu[] } | { ok: false; because: PlanReason } {
  if (asked === 'all') return all.length > 0 ? { ok: true, gpus: [...all] } : no('no_gpus', 'nvidia-smi lists no GPU');
  const gpus = new Set<Gpu>();
  for (const name of asked) {
    const gpu = all.find((candidate) => isNamed(candidate, name));
    if (!gpu) return no('gpu_not_found', `there is no GPU ${name} on this host`);
    gpus.add(gpu);
  }
  return { ok: true, gpus: [...gpus] };
}

function isNamed({ uuid, pciBusId, index }: Gpu, name: string): boolean {
  const address = busAddress(name);
  return uuid === name || (address !== null && busAddress(pciBusId) === address) || name === `index-${index}`;
}

function no(because: string, detail: string): { ok: false; because: PlanReason } {
  return { ok: false, because: reason(because, detail) };
}

export function nameOfGpu(gpu: Pick<Gpu, 'uuid' | 'pciBusId' | 'index' | 'name'>): string {
  return `GPU ${gpu.uuid ?? gpu.pciBusId ?? gpu.index}${gpu.name ? ` (${gpu.name})` : ''}`;
}

/** Why a job must not touch this GPU, whatever it wants of it. */
export function gpuProblem(gpu: Gpu): PlanReason | null {
  // What is told of a GPU that is gone is what it was: it counts for nothing.
  if (gpu.lost) return reason('gpu_lost', `${nameOfGpu(gpu)} has fallen off the bus`);
  if (gpu.uuid === null)
    return reason('gpu_unidentified', `${nameOfGpu(gpu)} tells no UUID: it cannot be addressed safely`);
  if (gpu.display.active === 'Enabled') return reason('display_attached', `${nameOfGpu(gpu)} drives a display`);
  return null;
}
