import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { dockerProbe } from './index.ts';
import { parseDaemonJson } from './parse-daemon-json.ts';
import { parseDockerInfo } from './parse-docker-info.ts';

const daemonJson = `{
  "default-runtime": "nvidia",
  "runtimes": { "nvidia": { "path": "nvidia-container-runtime", "runtimeArgs": [] } },
  "features": { "cdi": true },
  "live-restore": true,
  "node-generic-resources": ["NVIDIA-GPU=GPU-1"]
}`;
const info = JSON.stringify({
  ServerVersion: '28.1.1',
  Runtimes: { runc: {}, nvidia: {}, 'io.containerd.runc.v2': {} },
  DefaultRuntime: 'nvidia',
  CgroupDriver: 'systemd',
  CDISpecDirs: ['/etc/cdi', '/var/run/cdi'],
  DockerRootDir: '/var/lib/docker',
  SecurityOptions: ['name=seccomp,profile=builtin', 'name=cgroupns'],
  ContainersRunning: 3,
});
const infoCommand = 'docker info --format {{json .}}';
const unit = 'Id=docker.service\nLoadState=loaded\nActiveState=active\nSubState=running\n';

test('reads the file and the live daemon', async () => {
  const { value, partial } = await collectOn(dockerProbe, {
    files: { '/usr/bin/dockerd': 'ELF', '/etc/docker/daemon.json': { text: daemonJson, mode: 0o600, mtimeMs: 9_000 } },
    commands: { [infoCommand]: info, [unitStatesArgv.join(' ')]: unit },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    installed: true,
    unit: { name: 'docker.service', activeState: 'active' },
    configFile: { present: true, mode: 0o600, mtimeMs: 9_000, error: null },
    config: {
      runtimes: [{ name: 'nvidia', binary: 'nvidia-container-runtime', type: null, systemdCgroup: null }],
      defaultRuntime: 'nvidia',
      cdi: true,
      liveRestore: true,
    },
    live: {
      version: '28.1.1',
      runtimes: ['io.containerd.runc.v2', 'nvidia', 'runc'],
      defaultRuntime: 'nvidia',
      rootless: false,
      containersRunning: 3,
    },
  });
});

test('reads the file of the snap where docker is the snap', async () => {
  const { value } = await collectOn(dockerProbe, {
    files: {
      '/snap/docker/current/bin/dockerd': 'ELF',
      '/etc/docker/daemon.json': daemonJson,
      '/var/snap/docker/current/config/daemon.json': '{}',
    },
  });
  expect(value?.configFile.path).toBe('/var/snap/docker/current/config/daemon.json');
  expect(value?.config?.runtimes).toEqual([]);
});

test('has no live part and says why when the daemon does not answer', async () => {
  const errors = JSON.stringify({ ServerErrors: ['Cannot connect to the Docker daemon'], ServerVersion: '' });
  const { value, partial } = await collectOn(dockerProbe, {
    files: { '/usr/bin/dockerd': 'ELF' },
    commands: { [infoCommand]: { exitCode: 1, stdout: errors } },
  });
  expect(value).toMatchObject({ live: null, unit: null, config: null });
  expect(partial).toEqual([
    { path: 'unit', because: 'no_systemd' },
    { path: 'live', because: 'daemon_not_answering: Cannot connect to the Docker daemon' },
  ]);
});

test('keeps a broken file apart from a missing one', async () => {
  const files = { '/usr/bin/dockerd': 'ELF', '/etc/docker/daemon.json': '{"a": 1,}' };
  const { value } = await collectOn(dockerProbe, { files });
  expect(value?.config).toBeNull();
  expect(value?.configFile).toMatchObject({ present: true, error: expect.stringContaining('not_json') });
});

test.each([
  ['', []],
  ['null', []],
  ['\uFEFF{"runtimes": null}', []],
])('takes %j for a file without settings, as dockerd does', (text, runtimes) => {
  expect(parseDaemonJson(text)).toMatchObject({ value: { runtimes, defaultRuntime: null }, unreadable: [] });
});

test.each(['[]', '"x"', '{} {}', '{"runtimes": '])('refuses %j', (text) => {
  expect(parseDaemonJson(text).value).toBeNull();
});

test('knows a rootless daemon and refuses an answer without a version', () => {
  const rootless = { ...JSON.parse(info), SecurityOptions: ['name=seccomp', 'name=rootless'] };
  expect(parseDockerInfo(JSON.stringify(rootless)).value?.rootless).toBe(true);
  expect(parseDockerInfo('{}').unreadable).toEqual([{ path: '', because: 'daemon_not_answering' }]);
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.anything(), fc.nat(daemonJson.length), fc.string({ unit: 'binary' }), (value, cut, insert) => {
      const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item)) ?? '';
      parseDaemonJson(text);
      parseDockerInfo(text);
      parseDaemonJson(daemonJson.slice(0, cut) + insert);
    }),
  );
});
