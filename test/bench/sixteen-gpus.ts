import { createGpu } from '../../packages/agent/src/host/simulated/gpus/gpu.ts';
import { smiXml } from '../../packages/agent/src/host/simulated/gpus/smi-xml.ts';
import { seeded } from '../../packages/agent/src/host/simulated/seeded.ts';

const driver = {
  loaded: '580.95.05',
  onDisk: '580.95.05',
  library: '580.95.05',
  cuda: '13.0',
  flavour: 'open',
} as const;

/** `nvidia-smi -q -x` of a machine with sixteen H100, each cut into seven MIG instances. */
export function sixteenGpuReport(): string {
  const random = seeded('sixteen');
  const sevenths = Array.from({ length: 7 }, () => '1g.10gb' as const);
  const gpus = Array.from({ length: 16 }, (_, minor) => createGpu(random, 'h100', minor, sevenths));
  return smiXml(driver, gpus, 1_800_000_000_000);
}
