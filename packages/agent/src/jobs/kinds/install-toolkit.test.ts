import type { JobRequest } from '@gpufleet/shared/jobs';
import { parseKeyFingerprints } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { keyring } from '../../host/simulated/classes/packages.ts';
import { armoured } from '../../host/simulated/network.ts';
import { installedPackages } from '../../host/simulated/packages.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';

const list = '/etc/apt/sources.list.d/nvidia-container-toolkit.list';
const key = '/etc/apt/keyrings/nvidia-container-toolkit.asc';
const install = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'install_toolkit', params });

function toolkitOf({ host }: Bench): string[] {
  return installedPackages(host.machine)
    .filter(({ name }) => /^(libnvidia-container|nvidia-container-toolkit)/.test(name))
    .map(({ name, version, status }) => `${name} ${version} ${status?.split(' ')[0] ?? 'install'}`);
}

function allAt(version: string, want = 'hold'): string[] {
  const names = [
    'libnvidia-container-tools',
    'libnvidia-container1',
    'nvidia-container-toolkit',
    'nvidia-container-toolkit-base',
  ];
  return names.map((name) => `${name} ${version} ${want}`);
}

test.each(['x86-docker', 'x86-containerd-2', 'k3s-agent', 'hgx-h100'] as const)(
  'installs what is missing on %s, holds it, plans nothing more, and undo takes it away',
  async (hostClass) => {
    const bench = aBench(hostClass, ['toolkit_not_installed']);
    const engine = bench.engine();
    const result = await engine.runLocal(install());
    expect(result).toMatchObject({ outcome: 'succeeded', because: [{ because: 'live_as_asked' }] });
    expect(toolkitOf(bench)).toEqual(allAt('1.18.1-1'));
    const effects = bench.host.effects.length;
    expect(await engine.runLocal(install())).toMatchObject({ outcome: 'noop' });
    expect(bench.host.effects.length).toBe(effects);
    expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(toolkitOf(bench)).toEqual([]);
    expect(bench.host.machine.packages.held.size).toBe(0);
    expect(bench.log.errors).toEqual([]);
  },
);

test('a good version stays, and is only held', async () => {
  const bench = aBench('x86-docker');
  const engine = bench.engine();
  expect(await engine.runLocal(install())).toMatchObject({ outcome: 'succeeded' });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1'));
  expect(await engine.runLocal(install({ hold: false }))).toMatchObject({ outcome: 'noop' });
});

test('an upgrade keeps what was there, and undo puts it back after the repository has dropped it', async () => {
  const bench = aBench('x86-docker');
  const engine = bench.engine();
  const result = await engine.runLocal(install({ version: '1.18.1' }));
  expect(result.outcome).toBe('succeeded');
  expect(toolkitOf(bench)).toEqual(allAt('1.18.1-1'));
  for (const line of allAt('1.17.8-1')) bench.host.machine.packages.dropped.add(`${line.split(' ')[0]}=1.17.8-1`);
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1', 'install'));
});

test('without a copy of the version of now nothing is changed, unless that is asked for', async () => {
  const bench = aBench('x86-docker');
  const engine = bench.engine();
  for (const line of allAt('1.17.8-1')) bench.host.machine.packages.dropped.add(`${line.split(' ')[0]}=1.17.8-1`);
  expect(await engine.runLocal(install({ version: '1.18.1' }))).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'way_back_missing', detail: expect.stringContaining('withoutWayBack') }],
  });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1', 'install'));
  expect(await engine.runLocal(install({ version: '1.18.1', withoutWayBack: true }))).toMatchObject({
    outcome: 'succeeded',
  });
});

test('four packages of different versions become one', async () => {
  const bench = aBench('x86-docker');
  bench.host.machine.packages.record.set('nvidia-container-toolkit', {
    version: '1.17.7-1',
    status: 'install ok installed',
  });
  const engine = bench.engine();
  const result = await engine.runLocal(install({ version: '1.17.8' }));
  expect(result.outcome).toBe('succeeded');
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1'));
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(toolkitOf(bench)).toContain('nvidia-container-toolkit 1.17.7-1 install');
});

test('old lists and a lost keyring are replaced by one entry with its key; undo brings the old ones back', async () => {
  const bench = aBench('x86-docker', ['toolkit_not_installed']);
  const { files } = bench.host.machine;
  const old = '/etc/apt/sources.list.d/nvidia-docker.list';
  files.put(old, 'deb https://nvidia.github.io/libnvidia-container/stable/ubuntu18.04/$(ARCH) /\n', { mode: 0o600 });
  files.remove('/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg');
  const before = [files.text(old), files.text(list)];
  const fingerprint = parseKeyFingerprints(keyring(bench.host.machine, 'toolkit'))?.[0] ?? '';
  const engine = bench.engine();
  const params = { repository: { keyFingerprint: fingerprint } };
  const result = await engine.runLocal(install(params));
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(files.has(old)).toBe(false);
  expect(files.text(list)).toBe(
    `deb [signed-by=${key}] https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n`,
  );
  expect(files.text(key)).toContain('BEGIN PGP PUBLIC KEY BLOCK');
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect([files.text(old), files.text(list)]).toEqual(before);
  expect(await bench.host.stat(old)).toMatchObject({ value: { mode: 0o600 } });
  expect(files.has('/etc/apt/keyrings')).toBe(false);
});

test('a key that is not the known one is trusted by nobody, and nothing is changed', async () => {
  const bench = aBench('x86-docker', ['toolkit_not_installed']);
  bench.host.machine.files.remove('/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg');
  const before = bench.host.effects.length;
  expect(await bench.engine().runLocal(install())).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'key_unknown', detail: expect.stringContaining('C95B321B61E88C1809C4F759DDCAE044F796ECB0') }],
  });
  expect(bench.host.effects.length).toBe(before);
});

test('a site without network installs from a folder on the host', async () => {
  const bench = aBench('x86-docker', ['toolkit_not_installed']);
  const { machine } = bench.host;
  machine.network = 'down';
  const engine = bench.engine();
  expect(await engine.runLocal(install())).toMatchObject({ because: [{ because: 'repository_unreachable' }] });
  expect(await engine.runLocal(install({ folder: '/opt/packages' }))).toMatchObject({
    because: [{ because: 'file_missing' }],
  });
  for (const line of allAt('1.17.8-1')) {
    const name = line.split(' ')[0] ?? '';
    machine.files.put(`/opt/packages/${name}.deb`, `deb ${name} 1.17.8-1 amd64`);
    machine.files.put(`/opt/packages/${name}-arm64.deb`, `deb ${name} 1.18.1-1 arm64`);
  }
  expect(await engine.runLocal(install({ folder: '/opt/packages' }))).toMatchObject({ outcome: 'succeeded' });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1'));
});

test('a key file on the host does instead of the server', async () => {
  const bench = aBench('x86-docker', ['toolkit_not_installed']);
  const { machine } = bench.host;
  machine.files.remove('/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg');
  machine.files.put('/opt/key.asc', armoured(keyring(machine, 'toolkit')));
  const keyFingerprint = parseKeyFingerprints(keyring(machine, 'toolkit'))?.[0] ?? '';
  const params = { repository: { keyFile: '/opt/key.asc', keyFingerprint } };
  expect(await bench.engine().runLocal(install(params))).toMatchObject({ outcome: 'succeeded' });
});

test('a dpkg that is killed half-way goes back to what was there', async () => {
  const bench = aBench('x86-docker');
  bench.host.machine.packages.isKilledHalfWay = true;
  const result = await bench.engine().runLocal(install({ version: '1.18.1' }));
  expect(result).toMatchObject({
    outcome: 'rolled_back',
    because: [{ detail: expect.stringContaining('dpkg exited unexpectedly') }],
  });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1', 'install'));
  expect(await bench.host.listDir('/var/lib/dpkg/updates')).toEqual({ ok: true, value: [] });
});

test.each([
  ['disk_full', 'no_space'],
  ['network', 'repository_unreachable'],
] as const)('with %s nothing of it stays', async (what, because) => {
  const bench = aBench('x86-docker', what === 'disk_full' ? ['disk_full'] : []);
  // The way out is there when the plan is made, and gone when packages are fetched.
  if (what === 'network') {
    const run = bench.host.run;
    bench.host.run = async (argv, options) => {
      if (argv.includes('update')) bench.host.machine.network = 'down';
      return run(argv, options);
    };
  }
  const result = await bench.engine().runLocal(install({ version: '1.18.1' }));
  expect(result.because[0]?.because).toBe(because);
  expect(['failed', 'rolled_back']).toContain(result.outcome);
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1', 'install'));
});

test('a lock of unattended upgrades is waited for, and its holder named when it stays', async () => {
  const bench = aBench('x86-docker');
  const { machine } = bench.host;
  machine.packages.lock = { pid: 812, name: 'unattended-upgr', untilMs: machine.clock.monotonicMs() + 120_000 };
  const engine = bench.engine();
  expect(await engine.runLocal(install({ version: '1.18.1' }))).toMatchObject({ outcome: 'succeeded' });
  expect(bench.progress).toContainEqual(
    'waits for process 812 (unattended-upgr), which holds the lock of the package manager',
  );
  machine.packages.lock = { pid: 812, name: 'unattended-upgr', untilMs: Number.POSITIVE_INFINITY };
  const result = await engine.runLocal(install({ version: '1.17.8' }));
  expect(result.because[0]).toMatchObject({
    because: 'packages_busy',
    detail: expect.stringContaining('process 812 (unattended-upgr)'),
  });
});

test('a toolkit that does not answer after the installation is taken back', async () => {
  const bench = aBench('x86-docker');
  const run = bench.host.run;
  bench.host.run = async (argv, options) => {
    const ran = await run(argv, options);
    const isNew = bench.host.machine.versions.toolkit === '1.18.1';
    return argv[0] === 'nvidia-ctk' && isNew && ran.ok
      ? { ok: true, value: { ...ran.value, exitCode: 127, stdout: '' } }
      : ran;
  };
  const result = await bench.engine().runLocal(install({ version: '1.18.1' }));
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'program_silent' }] });
  expect(toolkitOf(bench)).toEqual(allAt('1.17.8-1', 'install'));
});

test.each(['orin', 'thor'] as const)(
  'on %s, whose L4T brings a toolkit of its own, only a stated version is installed',
  async (hostClass) => {
    const bench = aBench(hostClass, ['toolkit_not_installed']);
    const engine = bench.engine();
    expect(await engine.runLocal(install())).toMatchObject({ because: [{ because: 'l4t_ships_toolkit' }] });
    expect(await engine.runLocal(install({ version: '1.17.8' }))).toMatchObject({ outcome: 'succeeded' });
  },
);

test('a package that would go along is named, and nothing is removed', async () => {
  const bench = aBench('x86-docker', ['toolkit_not_installed']);
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(install());
  bench.host.machine.packages.record.set('nvidia-docker2', { version: '2.13.0-1', status: 'install ok installed' });
  expect(await engine.undo(attemptId)).toMatchObject({
    because: expect.arrayContaining([
      expect.objectContaining({ because: 'would_remove', detail: expect.stringContaining('nvidia-docker2') }),
    ]),
  });
  expect(toolkitOf(bench).length).toBe(4);
});
