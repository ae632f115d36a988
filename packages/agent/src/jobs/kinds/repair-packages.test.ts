import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { unbuiltModule } from '../../host/simulated/classes/driver.ts';
import { installedPackages } from '../../host/simulated/packages.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';

const repair = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'repair_packages', params });
const installed = 'install ok installed';

function versionOf({ host }: Bench, name: string): string | undefined {
  return installedPackages(host.machine).find((one) => one.name === name)?.version;
}

/** The newer release of the driver's libraries, and the modules of before. */
function mixDriver({ host }: Bench): { module: string; library: string } {
  const { driver } = host.machine;
  if (!driver) throw new Error('the class has a driver');
  const [branch, minor, ...rest] = driver.onDisk.split('.');
  driver.library = [branch, String(Number(minor) + 1), ...rest].join('.');
  return { module: driver.onDisk, library: driver.library };
}

test('nothing is done where nothing is broken', async () => {
  for (const hostClass of ['x86-docker', 'k3s-server', 'orin', 'no-gpu'] as const) {
    const bench = aBench(hostClass);
    expect(await bench.engine().runLocal(repair())).toMatchObject({
      outcome: 'noop',
      because: [{ because: 'nothing_broken' }],
    });
    expect(bench.host.effects).toEqual([]);
  }
});

test('finishes what an interrupted dpkg left', async () => {
  const bench = aBench('x86-docker');
  const { machine } = bench.host;
  machine.packages.record.set('docker-buildx-plugin', { version: '0.20.0-1', status: 'install ok half-configured' });
  machine.files.put('/var/lib/dpkg/updates/0003', 'Package: docker-buildx-plugin\n');
  const engine = bench.engine();
  expect(await engine.runLocal({ kind: 'install_toolkit', params: { version: '1.18.1' } })).toMatchObject({
    because: [{ because: 'packages_interrupted', detail: expect.stringContaining('repair_packages') }],
  });
  expect(await engine.runLocal(repair())).toMatchObject({ outcome: 'succeeded' });
  expect(await engine.runLocal(repair())).toMatchObject({ outcome: 'noop' });
  expect(machine.packages.record.get('docker-buildx-plugin')?.status).toBe(installed);
});

test.each(['x86-docker', 'x86-containerd-1.7', 'k3s-agent'] as const)(
  'brings a mixed driver on %s to the version that is loaded, and undo mixes it again',
  async (hostClass) => {
    const bench = aBench(hostClass);
    const { module, library } = mixDriver(bench);
    const engine = bench.engine();
    const result = await engine.runLocal(repair());
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(bench.host.machine.driver).toMatchObject({ loaded: module, onDisk: module, library: module });
    expect(await engine.runLocal(repair())).toMatchObject({ outcome: 'noop' });
    expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(bench.host.machine.driver).toMatchObject({ onDisk: module, library });
  },
);

test('a version of the driver that no repository has any more is named before anything is changed', async () => {
  const bench = aBench('x86-docker');
  const { module } = mixDriver(bench);
  const { machine } = bench.host;
  for (const { name, version } of installedPackages(machine))
    machine.packages.dropped.add(`${name}=${version.replace(/^[\d.]+/, module)}`);
  const result = await bench.engine().runLocal(repair());
  expect(result).toMatchObject({ outcome: 'failed', because: [{ because: 'version_not_available' }] });
  expect(bench.host.effects).toEqual([]);
});

test('two entries of one repository become one, and apt works again', async () => {
  const bench = aBench('x86-docker');
  const { files } = bench.host.machine;
  const old = '/etc/apt/sources.list.d/nvidia-docker.list';
  files.put(old, 'deb https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n');
  expect(await bench.host.run(['apt-get', 'update'], { timeoutMs: 1_000 })).toMatchObject({ value: { exitCode: 100 } });
  const engine = bench.engine();
  const result = await engine.runLocal(repair());
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(files.has(old)).toBe(false);
  expect(await bench.host.run(['apt-get', 'update'], { timeoutMs: 1_000 })).toMatchObject({ value: { exitCode: 0 } });
  expect(await engine.runLocal(repair())).toMatchObject({ outcome: 'noop' });
});

test('builds the module for a kernel that came without headers; undo takes module and headers away', async () => {
  const bench = aBench('x86-docker');
  const { machine } = bench.host;
  const headers = `linux-headers-${machine.os.kernel}`;
  unbuiltModule(machine, machine.driver?.onDisk ?? '');
  machine.packages.record.set(headers, null);
  machine.files.remove(`/usr/src/${headers}`);
  const engine = bench.engine();
  const result = await engine.runLocal(repair());
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(versionOf(bench, headers)).toBeDefined();
  expect(await engine.runLocal(repair())).toMatchObject({ outcome: 'noop' });
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(versionOf(bench, headers)).toBeUndefined();
  expect(machine.files.has(`/usr/lib/modules/${machine.os.kernel}/updates/dkms`)).toBe(false);
});

test('a module that does not build leaves nothing behind', async () => {
  const bench = aBench('x86-docker', ['disk_full']);
  unbuiltModule(bench.host.machine, bench.host.machine.driver?.onDisk ?? '');
  expect(await bench.engine().runLocal(repair())).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'module_not_built' }],
  });
});

test('docker goes back to the release before and is held; undo brings the newer one again', async () => {
  const bench = aBench('orin');
  const { machine } = bench.host;
  await bench.host.run(['apt-get', 'install', '-y', 'docker-ce', 'docker-ce-cli'], { timeoutMs: 1_000 });
  const names = ['docker-ce', 'docker-ce-cli'];
  const engine = bench.engine();
  const result = await engine.runLocal(repair({ packages: names, version: '27.5.1' }));
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(machine.versions.docker).toBe('27.5.1');
  const held = await engine.runLocal({ kind: 'hold_packages', params: { packages: names } });
  expect(held).toMatchObject({ outcome: 'succeeded' });
  expect([...machine.packages.held]).toEqual(names);
  expect(await engine.runLocal({ kind: 'hold_packages', params: { packages: names } })).toMatchObject({
    outcome: 'noop',
  });
  expect(await engine.undo(held.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(machine.packages.held.size).toBe(0);
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(machine.versions.docker).toBe('28.3.3');
});

test('the driver of a Jetson is not touched', async () => {
  const engine = aBench('orin').engine();
  const asked: JobRequest['params'][] = [{ driverVersion: '550.163.01' }, { packages: ['nvidia-l4t-core'] }];
  for (const params of asked)
    expect(await engine.runLocal(repair(params))).toMatchObject({
      outcome: 'failed',
      because: [{ because: 'tegra_driver' }],
    });
});
