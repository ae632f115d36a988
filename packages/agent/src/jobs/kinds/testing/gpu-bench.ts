import type { Bench } from '../../testing/an-engine.ts';

/** What was done to the host, without the times. */
export function doneTo({ host }: Bench): string[] {
  return host.effects.map((effect) => {
    const ok = effect.ok ? '' : ' failed';
    if ('path' in effect) return `${effect.do} ${effect.path}${ok}`;
    if ('unit' in effect) return `${effect.do} ${effect.unit}${ok}`;
    if ('container' in effect) return `${effect.do} ${nameOf(host, effect.container)}${ok}`;
    return 'gpu' in effect ? `${effect.do} ${effect.to}${ok}` : `${effect.do}${ok}`;
  });
}

/** The container of docker that uses GPUs. */
export function gpuContainer({ host }: Bench): string {
  return host.machine.random.hex('container/0', 64);
}

/** A program in that container takes the GPU. */
export function holdGpu(bench: Bench, minor: number, gpuInstanceId: number | null = null): void {
  const client = { pid: 4711, name: 'python3', usedMiB: 900, gpuInstanceId, containerId: gpuContainer(bench) };
  bench.host.machine.gpus.find((gpu) => gpu.minor === minor)?.clients.push(client);
}

/** NVIDIA's monitoring service, which the classes do not have. */
export function runDcgm({ host }: Bench): void {
  const { units } = host.machine;
  const like = units.get('nvidia-persistenced.service');
  if (like) units.set('nvidia-dcgm.service', { ...like, name: 'nvidia-dcgm.service', pid: 901 });
}

/** Everything that a GPU job may write, with modes and links. */
export function filesOf({ host }: Bench): unknown {
  const { files, units } = host.machine;
  const paths = ['/etc/gpufleet', '/etc/gpufleet/mig.json', '/etc/systemd/system/gpufleet-mig.service'];
  const link = '/etc/systemd/system/multi-user.target.wants/gpufleet-mig.service';
  return [...paths, link].map((path) => [path, files.has(path), files.text(path)]).concat([[...units.keys()]]);
}

function nameOf({ machine }: Bench['host'], id: string): string {
  const folder = `/var/lib/docker/containers/${machine.random.hex('container/0', 64)}`;
  return folder.includes(id) ? 'inference' : id;
}
