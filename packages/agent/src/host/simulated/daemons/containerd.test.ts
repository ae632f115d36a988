import { parseToml } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { createSimulatedHost, type SimulatedClass } from '../index.ts';
import { criInfoLine, criInfoOf, runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';

const root = '/etc/containerd/config.toml';
const dropIn = '/etc/containerd/conf.d/99-nvidia.toml';
const v2 = 'plugins."io.containerd.grpc.v1.cri".containerd';
const v3 = 'plugins."io.containerd.cri.v1.runtime".containerd';
const nvidia = (prefix: string) =>
  `[${prefix}.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"\n[${prefix}.runtimes.nvidia.options]\nBinaryName = "/usr/bin/nvidia-container-runtime"\n`;

async function restartedWith(className: SimulatedClass, files: Record<string, string>) {
  const host = createSimulatedHost({ class: className, name: 'host-1', clock: createStoppedClock() });
  for (const path of [root, dropIn]) host.machine.files.remove(path);
  for (const [path, text] of Object.entries(files)) host.machine.files.put(path, text);
  const restarted = await runOn(host, 'systemctl restart containerd.service');
  const info = await runOn(host, criInfoLine);
  const names = info.exitCode === 0 ? Object.keys((await criInfoOf(host)).config.containerd.runtimes).sort() : null;
  return { host, restarted, info, names, log: host.machine.units.get('containerd.service')?.log.join('\n') ?? '' };
}

test.each([
  [
    '1.7',
    'x86-containerd-1.7',
    { [root]: `version = 2\n${nvidia(v2)}[${v2}.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n` },
    ['nvidia', 'runc'],
  ],
  ['2.1', 'x86-containerd-2', { [root]: `version = 3\n${nvidia(v3)}` }, ['nvidia', 'runc']],
  ['2.1, a file of the older schema', 'x86-containerd-2', { [root]: `version = 2\n${nvidia(v2)}` }, ['nvidia', 'runc']],
  ['1.7, no file', 'x86-containerd-1.7', {}, ['runc']],
  ['2.1, no file', 'x86-containerd-2', {}, ['runc']],
  [
    '2.1, a newer drop-in beside an older file',
    'x86-containerd-2',
    { [root]: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n', [dropIn]: `version = 3\n${nvidia(v3)}` },
    ['nvidia', 'runc'],
  ],
  [
    '2.1, a name under imports that is not there',
    'x86-containerd-2',
    { [root]: 'version = 3\nimports = ["/a.toml"]\n' },
    ['runc'],
  ],
  [
    '1.7, where an import replaces the whole section',
    'x86-containerd-1.7',
    {
      [root]: `version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n${nvidia(v2)}`,
      [dropIn]: `version = 2\n[${v2}.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n`,
    },
    ['runc'],
  ],
] as const)('containerd %s', async (_, className, files, expected) => {
  const { restarted, names } = await restartedWith(className, files);
  expect(restarted.exitCode).toBe(0);
  expect(names).toEqual(expected);
});

test('without a table for runc the CRI plugin of 1.7 does not load, and the daemon runs all the same', async () => {
  const { host, restarted, info } = await restartedWith('x86-containerd-1.7', { [root]: `version = 2\n${nvidia(v2)}` });
  expect(restarted.exitCode).toBe(0);
  expect(info).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('unknown service runtime.v1.RuntimeService'),
  });
  expect((await runOn(host, 'systemctl is-active containerd')).stdout).toBe('active\n');
  const plugins = await runOn(host, 'ctr --address /run/containerd/containerd.sock plugins ls');
  expect(plugins.stdout).toMatch(/io\.containerd\.grpc\.v1 +cri +linux\/amd64 +error/);
});

test.each([
  ['1.7', 'x86-containerd-1.7', { [root]: 'version = 3\n' }, 'unsupported config version `3`'],
  ['2.1', 'x86-containerd-2', { [root]: 'version = 4\n' }, 'equal to or less than `3`, got `4`'],
  ['1.7', 'x86-containerd-1.7', { [root]: 'version = 2.0\n' }, 'to int'],
  ['1.7', 'x86-containerd-1.7', { [root]: 'version = 2\nimports = ["/a.toml"]\n' }, 'open /a.toml: no such file'],
  ['2.1', 'x86-containerd-2', { [root]: '[debug]\n[debug]\n' }, 'failed to unmarshal TOML'],
  ['1.7', 'x86-containerd-1.7', { [root]: 'version = 2\nplugins = "x"\n' }, 'failed to unmarshal TOML'],
] as const)('containerd %s exits with what it cannot take', async (_, className, files, words) => {
  const { host, restarted, info, log } = await restartedWith(className, files);
  expect(restarted).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Job for containerd.service failed'),
  });
  expect(info).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('connection refused') });
  expect(log).toContain(words);
  const dumped = await runOn(host, `containerd --config ${root} config dump`);
  expect(dumped).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(words) });
});

test.each(['x86-containerd-1.7', 'x86-containerd-2'] as const)('%s dumps what it would run with', async (className) => {
  const host = createSimulatedHost({ class: className, name: 'host-1', clock: createStoppedClock() });
  const dumped = parseToml((await runOn(host, 'containerd config dump')).stdout);
  const plugin = className === 'x86-containerd-2' ? 'io.containerd.cri.v1.runtime' : 'io.containerd.grpc.v1.cri';
  expect(dumped).toMatchObject({
    ok: true,
    value: {
      version: className === 'x86-containerd-2' ? 3n : 2n,
      plugins: {
        [plugin]: {
          containerd: {
            default_runtime_name: 'runc',
            runtimes: { nvidia: { options: { BinaryName: '/usr/bin/nvidia-container-runtime', SystemdCgroup: true } } },
          },
        },
      },
    },
  });
});

test('docker-ce ships a file that switches CRI off', async () => {
  const host = createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock: createStoppedClock() });
  expect(host.machine.live.containerd?.cri).toEqual({ state: 'disabled' });
  const plugins = await runOn(host, 'ctr --address /run/containerd/containerd.sock plugins ls');
  expect(plugins.stdout).not.toMatch(/ cri /);
});
