import type { SimulatedGpu } from './gpu.ts';

/** One GPU in `nvidia-smi nvlink -s`: Hopper boards with switches have eighteen links, the others here none. */
export function linksOf(gpu: SimulatedGpu): string {
  const links = gpu.fabric
    ? Array.from({ length: 18 }, (_, at) => `\t Link ${at}: ${gpu.lost ? '<inactive>' : '26.562 GB/s'}\n`)
    : [];
  return `GPU ${gpu.minor}: ${gpu.model.name} (UUID: ${gpu.uuid})\n${links.join('')}`;
}
