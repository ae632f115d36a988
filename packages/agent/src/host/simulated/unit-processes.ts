import { microk8sContainerdArgv } from './classes/microk8s.ts';
import { k3sRenderedPath } from './daemons/k3s.ts';
import type { Machine } from './machine.ts';
import type { Unit } from './unit.ts';

interface Process {
  exe: string;
  argv: string[];
}

/** What the kernel shows of the processes of a unit that has just started, in place of those it had before. */
export function showUnitProcesses(machine: Machine, unit: Unit): void {
  hideUnitProcesses(machine, unit);
  const pids = processesOf(unit).map(({ exe, argv }, at) => {
    const pid = unit.pid + at;
    const folder = `/proc/${pid}`;
    // The kernel keeps fifteen characters of a name.
    machine.files.put(`${folder}/comm`, () => `${exe.slice(exe.lastIndexOf('/') + 1).slice(0, 15)}\n`);
    machine.files.put(`${folder}/cmdline`, () => `${argv.join('\0')}\0`, { mode: 0o444 });
    machine.files.put(`${folder}/cgroup`, () => `0::/system.slice/${unit.name}\n`);
    machine.files.putLink(`${folder}/exe`, exe);
    return pid;
  });
  machine.processes.set(unit.name, pids);
}

export function hideUnitProcesses(machine: Machine, unit: Unit): void {
  for (const pid of machine.processes.get(unit.name) ?? []) machine.files.remove(`/proc/${pid}`);
  machine.processes.delete(unit.name);
}

function processesOf({ name, exec }: Unit): Process[] {
  const [exe] = exec;
  if (exe === undefined) return [];
  // The snap's script becomes the program that it starts.
  if (name === 'snap.microk8s.daemon-containerd.service')
    return [{ exe: microk8sContainerdArgv[0] ?? exe, argv: microk8sContainerdArgv }];
  const main = { exe, argv: exec };
  // k3s starts the containerd that it brings.
  const brought = {
    exe: '/var/lib/rancher/k3s/data/current/bin/containerd',
    argv: ['containerd', '-c', k3sRenderedPath],
  };
  return name.startsWith('k3s') ? [main, brought] : [main];
}
