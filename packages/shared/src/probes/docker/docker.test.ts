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
const versionCommand = 'dockerd --version';
const version = 'Docker version 28.1.1, build 01f442b\n';
const unit = 'Id=docker.service\nLoadState=loaded\nActiveState=active\nSubState=running\n';

test('reads the file and the live daemon', async () => {
  const { value, partial } = await collectOn(dockerProbe, {
    files: { '/usr/bin/dockerd': 'ELF', '/etc/docker/daemon.json': { text: daemonJson, mode: 0o600, mtimeMs: 9_000 } },
    commands: { [infoCommand]: info, [versionCommand]: version, [unitStatesArgv.join(' ')]: unit },
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
    commands: { [infoCommand]: { exitCode: 1, stdout: errors }, [versionCommand]: version },
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

test.each(['[]', '"x"', '{} {}', '{"runtimes": ', '{"features": {"cdi": "true"}}'])('refuses %j', (text) => {
  expect(parseDaemonJson(text).value).toBeNull();
});

const dropIn = '/etc/systemd/system/docker.service.d/override.conf';
const unitFile =
  '[Unit]\nX=1\n[Service]\nEnvironmentFile=-/etc/default/docker\nExecStart=/usr/bin/dockerd -H fd:// $DOCKER_OPTS\n';

test('tells the options of the next start with the file that states each, and those of the process', async () => {
  const running = `${unit}MainPID=700\n`;
  const { value } = await collectOn(dockerProbe, {
    files: {
      '/usr/bin/dockerd': 'ELF',
      '/usr/lib/systemd/system/docker.service': unitFile,
      '/etc/default/docker': '# a comment\nDOCKER_OPTS="--data-root /data/docker --http-proxy=http://u:p@proxy"\n',
      '/proc/700/cmdline': '/usr/bin/dockerd\0--debug\0--config-file=/opt/site/daemon.json\0',
      '/opt/site/daemon.json': daemonJson,
      '/etc/docker/daemon.json': '{"runtimes": {"nvidia": {"path": "x"}}}',
    },
    commands: { [unitStatesArgv.join(' ')]: running },
  });
  expect(value?.flags?.configured).toEqual([
    { directive: 'hosts', flag: '-H', value: 'fd://', file: '/usr/lib/systemd/system/docker.service' },
    { directive: 'data-root', flag: '--data-root', value: '/data/docker', file: '/etc/default/docker' },
    { directive: 'http-proxy', flag: '--http-proxy', value: null, file: '/etc/default/docker' },
  ]);
  expect(value?.flags?.running?.map(({ flag }) => flag)).toEqual(['--debug', '--config-file']);
  expect(value?.configFile.path).toBe('/opt/site/daemon.json');
  expect(value?.config?.features).toEqual({ cdi: true });
  expect(value?.ignoredFile).toMatchObject({ runtimes: ['nvidia'], because: 'config_file_flag' });
});

test('a drop-in that clears ExecStart and states its own wins', async () => {
  const { value } = await collectOn(dockerProbe, {
    files: {
      '/usr/bin/dockerd': 'ELF',
      '/usr/lib/systemd/system/docker.service': unitFile,
      [dropIn]:
        '[Service]\nExecStart=\nExecStart=/usr/bin/dockerd --host=fd:// \\\n  --add-runtime=nvidia=/usr/bin/nvidia-container-runtime\n',
    },
  });
  expect(value?.flags?.configured).toEqual([
    { directive: 'hosts', flag: '--host', value: 'fd://', file: dropIn },
    { directive: 'runtimes', flag: '--add-runtime', value: 'nvidia=/usr/bin/nvidia-container-runtime', file: dropIn },
  ]);
});

test('does not look for a configuration anywhere on the disk', async () => {
  const { value, partial } = await collectOn(dockerProbe, {
    files: {
      '/usr/bin/dockerd': 'ELF',
      '/etc/systemd/system/docker.service': '[Service]\nExecStart=dockerd --config-file /a/b/c/d.json\n',
    },
  });
  expect(value?.configFile).toMatchObject({ path: '/a/b/c/d.json', sha256: null, error: 'not_looked_at' });
  expect(partial).toContainEqual({ path: 'configFile', because: 'not_looked_at' });
});

test('sees that the docker command is podman', async () => {
  const files = { '/usr/bin/docker': '#!/bin/sh\nexec /usr/bin/podman "$@"\n' };
  const { value } = await collectOn(dockerProbe, { files });
  expect(value).toMatchObject({ installed: false, emulatedBy: 'podman' });
  expect(parseDockerInfo('{"host": {}, "store": {}, "version": {}}').unreadable[0]?.because).toBe('answered_by_podman');
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
