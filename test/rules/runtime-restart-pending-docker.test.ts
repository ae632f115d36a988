import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { daemonJson, dockerDown, infoArgv, liveWithoutNvidia, unit } from './docker-host.ts';

const code = 'RUNTIME_RESTART_PENDING';
const startedAtMs = 1_779_459_721_000;
const changedAt = (mtimeMs: number): Changes => ({ files: { [daemonJson]: { as: { mtimeMs } } } });

test('tells a daemon.json that is newer than the daemon, and how many containers a restart would stop', async () => {
  const [finding] = (await observeChanged('x86-docker', changedAt(startedAtMs + 60_000), liveWithoutNvidia)).of(code);
  expect(finding).toMatchObject({
    subject: 'unit:docker.service',
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'restart_service', params: { unit: 'docker', action: 'restart' } }], approval: 'window' },
  });
  expect(finding?.evidence.at(-1)?.quote).toBe('ContainersRunning: 3');
});

test('is silent while the daemon lists nvidia, is down, or was started after the file', async () => {
  expect((await observeChanged('x86-docker', changedAt(startedAtMs + 60_000))).of(code)).toEqual([]);
  const down = await observeChanged('x86-docker', changedAt(startedAtMs + 60_000), ...dockerDown);
  expect([down.of(code), down.untold(code)]).toEqual([[], null]);
  expect((await observeChanged('x86-docker', liveWithoutNvidia)).of(code)).toEqual([]);
});

test('a broken file comes first', async () => {
  const broken: Changes = { files: { [daemonJson]: { text: '{', as: { mtimeMs: startedAtMs + 60_000 } } } };
  const host = await observeChanged('x86-docker', broken, liveWithoutNvidia);
  expect(host.of(code)).toEqual([]);
  expect(host.of('DOCKER_CONFIG_INVALID')).toHaveLength(1);
});

test('the second of the start proves nothing, the next one does', async () => {
  expect((await observeChanged('x86-docker', changedAt(startedAtMs + 999), liveWithoutNvidia)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', changedAt(startedAtMs + 1_000), liveWithoutNvidia)).of(code)).toHaveLength(
    1,
  );
});

test('cannot tell without an answer or without the start of the daemon', async () => {
  const silent: Changes = { commands: { [infoArgv]: { timedOut: true } } };
  expect((await observeChanged('x86-docker', silent)).untold(code)).toContain('docker did not answer');
  const noStart = unit('docker.service', { ActiveEnterTimestamp: '' });
  expect((await observeChanged('x86-docker', noStart, liveWithoutNvidia)).untold(code)).toContain('newer');
});
