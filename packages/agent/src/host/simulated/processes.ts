import type { SimulatedGpu } from './gpus/gpu.ts';
import type { Machine } from './machine.ts';

interface ShownProcess {
  pid: number;
  comm: string;
  exe: string;
  cgroup: string;
  /** Device nodes that it has open. */
  opens: readonly string[];
}

/** Processes that are in /proc now and are taken out when they have ended. */
const shown = new WeakMap<Machine, Set<number>>();

/** Puts the processes that have GPUs open into /proc, as they are now. */
export function showProcesses(machine: Machine): void {
  const { files } = machine;
  for (const pid of shown.get(machine) ?? []) files.remove(`/proc/${pid}`);
  const now = processesOf(machine);
  for (const { pid, comm, exe, cgroup, opens } of now) {
    files.put(`/proc/${pid}/comm`, () => `${comm}\n`);
    files.put(`/proc/${pid}/cgroup`, () => `0::${cgroup}\n`);
    files.putLink(`/proc/${pid}/exe`, exe);
    files.putDir(`/proc/${pid}/fd`);
    for (const [at, path] of ['/dev/null', 'socket:[20480]', ...opens].entries())
      files.putLink(`/proc/${pid}/fd/${at}`, path);
  }
  shown.set(machine, new Set(now.map(({ pid }) => pid)));
  if (!files.has('/proc/1/fd')) files.putLink('/proc/1/fd/0', '/dev/null');
}

function processesOf(machine: Machine): ShownProcess[] {
  const nodes = machine.gpus.filter(({ busId }) => busId !== 'N/A').map(({ minor }) => `/dev/nvidia${minor}`);
  const clients = machine.gpus.flatMap((gpu) => clientsOf(machine, gpu));
  if (nodes.length === 0 || !machine.driver?.loaded) return clients;
  const switches = machine.nvswitches.map((_, at) => `/dev/nvidia-nvswitch${at}`);
  return [
    ...daemon(machine, 'nvidia-persistenced.service', '/usr/bin/nvidia-persistenced', ['/dev/nvidiactl', ...nodes]),
    ...daemon(machine, 'nvidia-dcgm.service', '/usr/bin/nv-hostengine', ['/dev/nvidiactl', ...nodes]),
    ...daemon(machine, 'nvidia-fabricmanager.service', '/usr/bin/nv-fabricmanager', [
      '/dev/nvidia-nvswitchctl',
      ...switches,
    ]),
    ...clients,
  ];
}

function daemon(machine: Machine, name: string, exe: string, opens: readonly string[]): ShownProcess[] {
  const unit = machine.units.get(name);
  if (unit?.active !== 'active') return [];
  // The kernel keeps fifteen characters of a name.
  const comm = exe.slice(exe.lastIndexOf('/') + 1).slice(0, 15);
  return [{ pid: unit.pid, comm, exe, cgroup: `/system.slice/${name}`, opens }];
}

function clientsOf(machine: Machine, gpu: SimulatedGpu): ShownProcess[] {
  return gpu.clients.map(({ pid, name, containerId }) => ({
    pid,
    comm: name.slice(0, 15),
    exe: `/usr/bin/${name}`,
    cgroup: containerCgroup(machine, pid, containerId),
    opens: ['/dev/nvidiactl', '/dev/nvidia-uvm', `/dev/nvidia${gpu.minor}`],
  }));
}

function containerCgroup({ random, kubernetes }: Machine, pid: number, known: string | undefined): string {
  const container = known ?? random.hex(`container/${pid}`, 64);
  if (!kubernetes) return `/system.slice/docker-${container}.scope`;
  const pod = random.uuid(`pod/${pid}`).replaceAll('-', '_');
  return `/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${pod}.slice/cri-containerd-${container}.scope`;
}
