import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { daemonJson, dockerDown } from './docker-host.ts';

const code = 'DOCKER_CONFIG_FLAG_CONFLICT';
const dropIn = '/etc/systemd/system/docker.service.d/override.conf';
const exec = (flags: string): Changes => ({
  files: { [dropIn]: `[Service]\nExecStart=\nExecStart=/usr/bin/dockerd --host=fd:// ${flags}\n` },
});
const addRuntime = exec('--add-runtime=nvidia=/usr/bin/nvidia-container-runtime');
const version = (text: string): Changes => ({ commands: { 'dockerd --version': `Docker version ${text}, build 1\n` } });

test('names the runtimes that an old drop-in adds beside daemon.json, for the docker that refuses that', async () => {
  const host = await observeChanged('x86-docker', addRuntime, version('19.03.15'), ...dockerDown);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: `file:${dropIn}`,
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'approve' },
  });
  expect(finding?.evidence).toContainEqual({
    source: `file:${dropIn}`,
    quote: '--add-runtime nvidia=/usr/bin/nvidia-container-runtime',
  });
  expect(finding?.evidence).toContainEqual({ source: `file:${daemonJson}`, quote: '"runtimes"' });
});

test('only warns of doubled runtimes where docker merges them: something else keeps it down', async () => {
  const [finding] = (await observeChanged('x86-docker', addRuntime, version('26.1.5'), ...dockerDown)).of(code);
  expect(finding?.severity).toBe('warning');
});

test.each([
  ['log-driver', '--log-driver json-file'],
  ['log-opts', '--log-opt max-size=1m'],
])('names the directive when it has nothing to do with NVIDIA: %s', async (directive, flag) => {
  const [finding] = (await observeChanged('x86-docker', exec(flag), ...dockerDown)).of(code);
  expect(finding?.summary).toContain(`Docker cannot start: ${directive} is given both`);
  expect(finding?.remedy).toBeNull();
  expect(finding?.person).toContain(`Take ${flag.split(' ')[0]} out of ${dropIn}`);
});

test('finds the flag in an environment file that the unit names', async () => {
  const files = {
    [dropIn]: '[Service]\nEnvironmentFile=-/etc/default/docker\nExecStart=\nExecStart=/usr/bin/dockerd $DOCKER_OPTS\n',
    '/etc/default/docker': 'DOCKER_OPTS="--log-driver=journald"\n',
  };
  const [finding] = (await observeChanged('x86-docker', { files }, ...dockerDown)).of(code);
  expect(finding?.subject).toBe('file:/etc/default/docker');
});

test('warns while docker still runs with what it was started with', async () => {
  const [finding] = (await observeChanged('x86-docker', exec('--log-driver json-file'))).of(code);
  expect(finding).toMatchObject({ severity: 'warning', summary: expect.stringContaining('will not start again') });
});

test('is silent when a directive is in one place only, or docker was started with both', async () => {
  expect((await observeChanged('x86-docker', ...dockerDown)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', exec('--debug'), ...dockerDown)).of(code)).toEqual([]);
  const running = { files: { '/proc/7069/cmdline': '/usr/bin/dockerd\0--add-runtime\0nvidia=/x\0' } };
  expect((await observeChanged('x86-docker', addRuntime, running)).of(code)).toEqual([]);
});

test('cannot tell when a drop-in could not be read', async () => {
  const denied: Changes = { files: { [dropIn]: { text: '', as: { error: 'EACCES' } } } };
  const host = await observeChanged('x86-docker', denied, ...dockerDown);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('denied');
});
