import { unbuiltModule } from '../../host/simulated/classes/driver.ts';
import { installLibrary, libraryFolder } from '../../host/simulated/classes/nvidia.ts';
import type { Bench } from './an-engine.ts';
import type { JobCase } from './crash-trial.ts';

/** Jobs on packages, and hosts on which each has something to do. */
export const packageCases: readonly JobCase[] = [
  install({}, 'x86-docker', ['toolkit_not_installed']),
  install({}, 'x86-containerd-2', ['toolkit_not_installed']),
  install({ version: '1.18.1' }, 'x86-docker'),
  {
    ...install({ version: '1.18.1' }, 'x86-docker'),
    prepare: ({ host }) => {
      host.machine.packages.isKilledHalfWay = true;
    },
    goesBack: true,
  },
  {
    request: { kind: 'hold_packages', params: { packages: ['docker-ce', 'docker-ce-cli'] } },
    hostClass: 'x86-docker',
  },
  { ...repair({}), prepare: leaveHalfDone, cannotGoBack: true },
  { ...repair({}), prepare: mixDriver },
  { ...repair({}), prepare: nameRepositoryTwice },
  { ...repair({}), prepare: ({ host }) => unbuiltModule(host.machine, host.machine.driver?.onDisk ?? '') },
  repair({ packages: ['docker-ce', 'docker-ce-cli'], version: '26.1.4' }),
];

function install(
  params: JobCase['request']['params'],
  hostClass: JobCase['hostClass'],
  faults: JobCase['faults'] = [],
): JobCase {
  return { request: { kind: 'install_toolkit', params }, hostClass, faults };
}

function repair(params: JobCase['request']['params']): JobCase {
  return { request: { kind: 'repair_packages', params }, hostClass: 'x86-docker' };
}

function leaveHalfDone({ host: { machine } }: Bench): void {
  machine.packages.record.set('nvidia-docker2', { version: '2.13.0-1', status: 'install ok half-configured' });
  machine.files.put('/var/lib/dpkg/updates/0003', 'Package: nvidia-docker2\n');
}

/** The libraries of the next release beside the modules of this one. */
export function mixDriver({ host: { machine } }: Bench): void {
  const { driver } = machine;
  if (!driver) return;
  const [branch, minor, ...rest] = driver.onDisk.split('.');
  driver.library = [branch, String(Number(minor) + 1), ...rest].join('.');
  installLibrary(machine, libraryFolder(machine), driver.library);
}

function nameRepositoryTwice({ host: { machine } }: Bench): void {
  const old = 'deb https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n';
  machine.files.put('/etc/apt/sources.list.d/nvidia-docker.list', old);
}
