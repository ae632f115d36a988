import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { containerdProbe } from './index.ts';

const root = `version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`;
const dropIn = `version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
`;
const version = 'containerd --version';
const crictl = 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info';
const ctr = 'ctr --address /run/containerd/containerd.sock plugins ls';
const systemctl = unitStatesArgv.join(' ');
const unit =
  'Id=containerd.service\nLoadState=loaded\nActiveState=active\nSubState=running\nActiveEnterTimestamp=@1700000000\n';
const v17 = 'containerd github.com/containerd/containerd 1.7.24 x';
const v21 = 'containerd github.com/containerd/containerd/v2 v2.1.9 x';

test('reads files, imports, unit and the live daemon', async () => {
  const info = JSON.stringify({ config: { containerd: { defaultRuntimeName: 'runc', runtimes: { runc: {} } } } });
  const { value, partial } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/etc/containerd/config.toml': root,
      '/etc/containerd/conf.d/99-nvidia.toml': dropIn,
      '/etc/containerd/conf.d/README': 'no',
      '/proc/1/comm': 'systemd\n',
    },
    commands: { [version]: v21, [crictl]: info, [systemctl]: unit },
  });
  expect(partial).toEqual([]);
  expect(value?.files.map(({ path }) => path)).toEqual([
    '/etc/containerd/config.toml',
    '/etc/containerd/conf.d/99-nvidia.toml',
  ]);
  expect(value?.rootConfig?.runtimes.map(({ name }) => name)).toEqual(['runc']);
  expect(value?.effective?.runtimes.map(({ name }) => name)).toEqual(['nvidia', 'runc']);
  expect(value?.layers?.map(({ path, runtimes }) => [path, ...runtimes.map(({ name }) => name)])).toEqual([
    ['/etc/containerd/config.toml', 'runc'],
    ['/etc/containerd/conf.d/99-nvidia.toml', 'nvidia'],
  ]);
  expect(value).toMatchObject({
    version: '2.1.9',
    unit: { activeState: 'active', startedAtMs: 1_700_000_000_000 },
    live: { criReady: true, defaultRuntime: 'runc' },
  });
});

test('follows imports once, relative to the file that names them, and tells those outside its folder', async () => {
  const { value, partial } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/etc/containerd/config.toml': 'version = 2\nimports = ["extra/a.toml", "/opt/b.toml"]\n',
      '/etc/containerd/extra/a.toml': 'version = 2\nimports = ["/etc/containerd/config.toml"]\n',
      '/opt/b.toml': dropIn,
    },
    commands: { [version]: v17, [systemctl]: unit },
  });
  expect(value?.files).toHaveLength(2);
  expect(value?.effective).toBeNull();
  expect(partial).toContainEqual({ path: 'files', because: 'import_not_read: /opt/b.toml' });
  expect(partial).toContainEqual({ path: 'effective', because: 'a_file_could_not_be_read' });
});

test.each([
  [v17, false],
  [v21, true],
])('an import by exact name that is missing: %s starts is %s', async (said, starts) => {
  const { value } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/etc/containerd/config.toml': 'version = 2\nimports = ["/etc/containerd/x/y.toml"]\n',
    },
    commands: { [version]: said },
  });
  expect(value?.effective !== null).toBe(starts);
});

test('keeps the error of a broken file and has nothing effective', async () => {
  const { value } = await collectOn(containerdProbe, {
    files: { '/usr/bin/containerd': 'ELF', '/etc/containerd/config.toml': 'version = \n' },
    commands: { [version]: v17 },
  });
  expect(value).toMatchObject({ rootConfig: null, effective: null });
  expect(value?.files[0]?.error).toMatch(/^not_toml/);
});

test('runs with its built-in settings where there is no file', async () => {
  const { value } = await collectOn(containerdProbe, {
    files: { '/usr/bin/containerd': 'ELF' },
    commands: { [version]: v17 },
  });
  expect(value?.files).toMatchObject([{ present: false }]);
  expect(value?.effective?.defaultRuntime).toBe('runc');
});

test.each([
  [
    {
      [crictl]: {
        exitCode: 1,
        stderr: 'rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService',
      },
    },
    { criReady: false, runtimes: [] },
    null,
  ],
  [
    { [crictl]: { exitCode: 1, stderr: 'connect: no such file or directory' } },
    null,
    'not_answering: connect: no such file or directory',
  ],
  [{ [ctr]: 'io.containerd.grpc.v1 cri linux/amd64 ok\n' }, { criReady: true, runtimes: null }, null],
  [{ [ctr]: { exitCode: 1, stderr: 'ctr: failed to dial' } }, null, 'not_answering: ctr: failed to dial'],
  [{}, null, 'absent'],
])('asks the live daemon: %j', async (commands, live, because) => {
  const { value, partial } = await collectOn(containerdProbe, {
    files: { '/usr/bin/containerd': 'ELF' },
    commands: { [version]: v17, ...commands },
  });
  if (live === null) expect(value?.live).toBeNull();
  else expect(value?.live).toMatchObject(live);
  expect(partial?.find(({ path }) => path === 'live')?.because ?? null).toBe(because);
});

test('asks an old systemd without the option that it does not know', async () => {
  const old = systemctl.replace(' --timestamp=unix', '');
  const { value } = await collectOn(containerdProbe, {
    files: { '/usr/bin/containerd': 'ELF' },
    commands: {
      [systemctl]: { exitCode: 1, stderr: "systemctl: unrecognized option '--timestamp=unix'" },
      [old]: unit.replace('@1700000000', 'Tue 2023-11-14 22:13:20 UTC'),
    },
  });
  expect(value?.unit).toMatchObject({ activeState: 'active', startedAtMs: null });
});

test('says that a host without systemd has no unit states', async () => {
  const { value, partial } = await collectOn(containerdProbe, {
    files: { '/usr/bin/containerd': 'ELF' },
    commands: {
      [systemctl]: { exitCode: 1, stderr: 'System has not been booted with systemd as init system (PID 1).' },
    },
  });
  expect(value?.unit).toBeNull();
  expect(partial).toContainEqual({ path: 'unit', because: 'no_systemd' });
});
