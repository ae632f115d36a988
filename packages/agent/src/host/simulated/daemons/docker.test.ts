import { expect, test } from 'vitest';
import { createSimulatedHost } from '../index.ts';
import { dockerInfo, runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';

const daemonJson = '/etc/docker/daemon.json';

function dockerHost() {
  return createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock: createStoppedClock() });
}

test('the live daemon keeps what it read when it started', async () => {
  const host = dockerHost();
  host.machine.files.put(daemonJson, '{}');
  expect(Object.keys((await dockerInfo(host)).Runtimes ?? {})).toContain('nvidia');
  expect((await runOn(host, 'systemctl restart docker.service')).exitCode).toBe(0);
  expect(Object.keys((await dockerInfo(host)).Runtimes ?? {})).toEqual(['io.containerd.runc.v2', 'runc']);
});

test.each([
  ['broken JSON', '{"debug": true,}', 'invalid JSON'],
  ['a list', '[]', 'cannot unmarshal array'],
  ['an unknown key', '{"shm": 1}', "don't match any configuration option: shm"],
  ['a runtime that is not there', '{"default-runtime": "kata"}', "default runtime 'kata' does not exist"],
])('%s keeps dockerd from starting', async (_, text, words) => {
  const host = dockerHost();
  host.machine.files.put(daemonJson, text);
  const validated = await runOn(host, `dockerd --validate --config-file ${daemonJson}`);
  expect(validated).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(words) });
  const restarted = await runOn(host, 'systemctl restart docker');
  expect(restarted).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Job for docker.service failed') });
  expect((await dockerInfo(host)).ServerErrors).toEqual([expect.stringContaining('Cannot connect')]);
});

test.each(['', '\uFEFF{}', 'null', '{"runtimes": null}'])('dockerd starts with %j', async (text) => {
  const host = dockerHost();
  host.machine.files.put(daemonJson, text);
  expect((await runOn(host, 'systemctl restart docker')).exitCode).toBe(0);
  const validated = await runOn(host, `dockerd --validate --config-file ${daemonJson}`);
  expect(validated).toMatchObject({ exitCode: 0, stdout: '', stderr: 'configuration OK\n' });
});

test('systemd tries again and comes up once the file is right', async () => {
  const clock = createStoppedClock();
  const host = createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock });
  host.machine.files.put(daemonJson, '{');
  await runOn(host, 'systemctl restart docker');
  expect((await runOn(host, 'systemctl is-active docker')).stdout).toBe('activating\n');
  host.machine.files.put(daemonJson, '{}');
  clock.advance(3_000);
  expect(await runOn(host, 'systemctl is-active docker')).toMatchObject({ stdout: 'active\n', exitCode: 0 });
});

test('systemd gives up after the burst', async () => {
  const clock = createStoppedClock();
  const host = createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock });
  host.machine.files.put(daemonJson, '{');
  await runOn(host, 'systemctl restart docker');
  clock.advance(60_000);
  expect(await runOn(host, 'systemctl is-active docker')).toMatchObject({ stdout: 'failed\n', exitCode: 3 });
});
