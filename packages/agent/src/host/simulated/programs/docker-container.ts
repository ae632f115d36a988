import { type Machine, nowMs } from '../machine.ts';
import { type Answer, complained, printed } from './program.ts';

/** `docker inspect | stop | start` of one container by its whole id. */
export function dockerContainer(machine: Machine, args: readonly string[]): Answer | undefined {
  const [verb] = args;
  const id = args[args.length - 1] ?? '';
  if (verb !== 'inspect' && verb !== 'stop' && verb !== 'start') return undefined;
  if (!machine.live.docker)
    return complained(
      'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n',
    );
  if (!machine.files.has(`/var/lib/docker/containers/${id}/config.v2.json`))
    return complained(`Error response from daemon: No such container: ${id}\n`);
  if (verb === 'inspect') return printed(`${!machine.stoppedContainers.has(id)} false\n`);
  const changes = machine.stoppedContainers.has(id) === (verb === 'start');
  if (changes && verb === 'stop') stop(machine, id);
  if (changes && verb === 'start') start(machine, id);
  if (changes)
    machine.effects.push({ atMs: nowMs(machine), do: `${verb}_container`, container: id.slice(0, 12), ok: true });
  return printed(`${id}\n`);
}

function stop(machine: Machine, id: string): void {
  const used = machine.gpus.flatMap(({ minor, clients }) =>
    clients
      .filter(({ containerId }) => containerId === id)
      .map(({ name, usedMiB, gpuInstanceId }) => ({ minor, name, usedMiB, gpuInstanceId })),
  );
  for (const gpu of machine.gpus) gpu.clients = gpu.clients.filter(({ containerId }) => containerId !== id);
  machine.stoppedContainers.set(id, used);
}

function start(machine: Machine, id: string): void {
  for (const { minor, ...client } of machine.stoppedContainers.get(id) ?? []) {
    const pid = 30_000 + machine.random.int(`container/${id}/${nowMs(machine)}`, 5_000);
    machine.gpus.find((gpu) => gpu.minor === minor)?.clients.push({ ...client, pid, containerId: id });
  }
  machine.stoppedContainers.delete(id);
}
