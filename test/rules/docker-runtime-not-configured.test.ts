import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { daemonJson, dockerDown, info, infoArgv, liveWithoutNvidia, runtimesOf } from './docker-host.ts';

const code = 'DOCKER_RUNTIME_NOT_CONFIGURED';
const fileWithout: Changes = { files: { [daemonJson]: '{"log-driver": "json-file"}\n' } };

test('neither file nor daemon: a blocker on Tegra, degraded elsewhere', async () => {
  const [finding] = (await observeChanged('x86-docker', fileWithout, liveWithoutNvidia)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${daemonJson}`,
    severity: 'degraded',
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'window' },
  });
  expect((await observeChanged('orin', fileWithout, liveWithoutNvidia)).of(code)[0]?.severity).toBe('blocker');
});

test('no daemon.json at all is not configured either', async () => {
  const none: Changes = { files: { [daemonJson]: null } };
  const [finding] = (await observeChanged('x86-docker', none, liveWithoutNvidia)).of(code);
  expect(finding?.evidence).toContainEqual({ source: `file:${daemonJson}`, quote: 'absent' });
});

test('a daemon that lists nvidia is asked first: a flag may give it what no file has', async () => {
  expect((await observeChanged('x86-docker', fileWithout)).of(code)).toEqual([]);
});

test('a broken file, a missing toolkit and a silent driver come first', async () => {
  const broken: Changes = { files: { [daemonJson]: '{"a": 1,}' } };
  const host = await observeChanged('x86-docker', broken, liveWithoutNvidia);
  expect(host.of(code)).toEqual([]);
  expect(host.of('DOCKER_CONFIG_INVALID')).toHaveLength(1);
  const unloaded: Changes = { files: { '/proc/driver/nvidia/version': null } };
  expect((await observeChanged('x86-docker', fileWithout, liveWithoutNvidia, unloaded)).of(code)).toEqual([]);
});

test('is silent where docker is down', async () => {
  expect((await observeChanged('x86-docker', fileWithout, ...dockerDown)).of(code)).toEqual([]);
});

test('leaves the snap and a rootless daemon to a person: they read other files', async () => {
  const snap: Changes = { files: { '/usr/bin/dockerd': null, '/snap/docker/current/bin/dockerd': 'ELF' } };
  const [asSnap] = (await observeChanged('x86-docker', fileWithout, liveWithoutNvidia, snap)).of(code);
  expect(asSnap).toMatchObject({ remedy: null, person: expect.stringContaining('snap') });
  const rootless = {
    commands: { [infoArgv]: info({ Runtimes: runtimesOf('runc'), SecurityOptions: ['name=rootless'] }) },
  };
  const [asUser] = (await observeChanged('x86-docker', fileWithout, rootless)).of(code);
  expect(asUser).toMatchObject({ remedy: null, person: expect.stringContaining('rootless') });
});

test('cannot tell while a running daemon does not answer', async () => {
  const silent: Changes = { commands: { [infoArgv]: { timedOut: true } } };
  expect((await observeChanged('x86-docker', fileWithout, silent)).untold(code)).toContain('timed_out');
});
