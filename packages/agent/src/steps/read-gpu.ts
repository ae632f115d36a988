import type { Gpu } from '@gpufleet/shared/probes';
import type { StepContext } from './executor.ts';

/** As nvidia-smi describes it now; null where it does not, or the report could not be read. */
export async function readGpu(context: StepContext, gpuUuid: string): Promise<Gpu | null> {
  const facts = await context.collectFacts(['gpus']);
  return facts.gpus?.value?.gpus.find((gpu) => gpu.uuid === gpuUuid) ?? null;
}
