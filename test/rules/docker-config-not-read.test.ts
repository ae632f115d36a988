import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import {
  daemonJson,
  dockerDown,
  info,
  infoArgv,
  liveWithoutNvidia,
  rootlessUser,
  runtimesOf,
  unit,
} from './docker-host.ts';

const code = 'DOCKER_CONFIG_NOT_READ';
const snapConfig = '/var/snap/docker/current/config/daemon.json';
const snap: Changes = {
  files: {
    '/usr/bin/dockerd': null,
    '/snap/docker/current/bin/dockerd': 'ELF',
    [snapConfig]: '{"log-level": "error"}\n',
  },
};
const dropIn = '/etc/systemd/system/docker.service.d/override.conf';
/** The whole second in which the recorded docker was started. */
const startedAtMs = 1_779_459_721_000;

test('tells that the snap does not read /etc/docker/daemon.json', async () => {
  const [finding] = (await observeChanged('x86-docker', snap, liveWithoutNvidia)).of(code);
  expect(finding).toMatchObject({ subject: `file:${daemonJson}`, severity: 'blocker', remedy: null });
  expect(finding?.evidence).toContainEqual({ source: `file:${snapConfig}`, quote: 'no runtimes.nvidia' });
  expect(finding?.person).toContain('snap');
});

test('tells --config-file in the command line of the process, and configures the file that is read', async () => {
  const elsewhere: Changes = {
    files: {
      '/proc/7069/cmdline': '/usr/bin/dockerd\0-H\0fd://\0--config-file\0/opt/site/daemon.json\0',
      '/opt/site/daemon.json': '{}\n',
    },
  };
  const [finding] = (await observeChanged('x86-docker', elsewhere, liveWithoutNvidia)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${daemonJson}`,
    remedy: {
      jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker', configPath: '/opt/site/daemon.json' } }],
      approval: 'window',
    },
  });
});

test('takes --config-file from a drop-in while the process cannot be read', async () => {
  const files = {
    '/proc/7069/cmdline': null,
    [dropIn]: '[Service]\nExecStart=\nExecStart=/usr/bin/dockerd -H fd:// --config-file=/opt/site/daemon.json\n',
    '/opt/site/daemon.json': '{}\n',
  };
  const [finding] = (await observeChanged('x86-docker', { files }, liveWithoutNvidia)).of(code);
  expect(finding?.remedy?.jobs[0]?.params).toMatchObject({ configPath: '/opt/site/daemon.json' });
});

test.each([
  ['a rootless daemon', { SecurityOptions: ['name=rootless'] }, '/home/user1/.config/docker/daemon.json'],
  ['Docker Desktop', { OperatingSystem: 'Docker Desktop' }, 'Docker Desktop'],
  ['another context', { ClientInfo: { Context: 'site-b' } }, 'context site-b'],
] as const)('tells that %s answers', async (_, change, said) => {
  const live: Changes = { commands: { [infoArgv]: info({ Runtimes: runtimesOf('runc'), ...change }) } };
  const host = await observeChanged('x86-docker', rootlessUser('{}'), live);
  expect(host.of(code)[0]?.person).toContain(said);
  expect(host.of('RUNTIME_RESTART_PENDING')).toEqual([]);
});

test('tells a file that is older than the daemon', async () => {
  const [finding] = (await observeChanged('x86-docker', liveWithoutNvidia)).of(code);
  expect(finding).toMatchObject({ subject: `file:${daemonJson}`, remedy: null });
});

test('is silent while the daemon is older than the file, lists nvidia or is down', async () => {
  const later: Changes = { files: { [daemonJson]: { as: { mtimeMs: startedAtMs + 3_600_000 } } } };
  const pending = await observeChanged('x86-docker', later, liveWithoutNvidia);
  expect(pending.of(code)).toEqual([]);
  expect(pending.of('RUNTIME_RESTART_PENDING')).toHaveLength(1);
  expect((await observeChanged('x86-docker', snap)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', ...dockerDown)).of(code)).toEqual([]);
});

test('cannot tell of the second of the start, without the start, or without an answer', async () => {
  const sameSecond: Changes = { files: { [daemonJson]: { as: { mtimeMs: startedAtMs + 400 } } } };
  const host = await observeChanged('x86-docker', sameSecond, liveWithoutNvidia);
  expect(host.of(code)).toEqual([]);
  expect(host.of('RUNTIME_RESTART_PENDING')).toEqual([]);
  expect(host.untold(code)).toContain('within the second');
  const noStart = unit('docker.service', { ActiveEnterTimestamp: '' });
  expect((await observeChanged('x86-docker', noStart, liveWithoutNvidia)).untold(code)).toContain('not known');
  const silent: Changes = { commands: { [infoArgv]: { timedOut: true } } };
  expect((await observeChanged('x86-docker', silent)).untold(code)).toContain('timed_out');
});
