import { expect, test } from 'vitest';
import { crioNvidiaDropIn, writeCrioFiles } from '../classes/crio.ts';
import { createSimulatedHost } from '../index.ts';
import { runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';
import { crioDropIns } from './crio.ts';

const crioHost = () => createSimulatedHost({ class: 'crio-worker', name: 'host-1', clock: createStoppedClock() });
const config = async (host: ReturnType<typeof crioHost>) => (await runOn(host, 'crio status config')).stdout;

test('CRI-O takes its drop-ins when it starts, not before', async () => {
  const host = crioHost();
  expect(await config(host)).toContain('[crio.runtime.runtimes.nvidia]');
  writeCrioFiles(host.machine, false);
  expect(await config(host)).toContain('[crio.runtime.runtimes.nvidia]');
  await runOn(host, 'systemctl restart crio');
  expect(await config(host)).not.toContain('nvidia');
  expect(await config(host)).toContain('default_runtime = "crun"');
});

test('a later drop-in wins, and a handler whose program is missing is left out', async () => {
  const host = crioHost();
  host.machine.files.put(`${crioDropIns}/99-z.toml`, '[crio.runtime]\ndefault_runtime = "nvidia"\n');
  await runOn(host, 'systemctl restart crio');
  expect(await config(host)).toContain('default_runtime = "nvidia"');
  host.machine.files.remove(`${crioDropIns}/99-z.toml`);
  host.machine.files.remove('/usr/bin/nvidia-container-runtime');
  await runOn(host, 'systemctl restart crio');
  expect(await config(host)).not.toContain('nvidia');
});

test.each([
  ['a file that is not TOML', '[crio', 'unable to decode configuration file'],
  ['a default runtime that is not there', '[crio.runtime]\ndefault_runtime = "kata"\n', 'no runtime entry was found'],
])('%s keeps it down, and nothing answers', async (_, text, log) => {
  const host = crioHost();
  host.machine.files.put(crioNvidiaDropIn, text);
  expect((await runOn(host, 'systemctl restart crio')).exitCode).toBe(1);
  const unit = host.machine.units.get('crio.service');
  expect(unit).toMatchObject({ active: 'activating', sub: 'auto-restart' });
  expect(unit?.log.at(-1)).toContain(log);
  expect(await runOn(host, 'crio status config')).toMatchObject({ exitCode: 1, stdout: '' });
  const pods = await runOn(host, 'crictl --runtime-endpoint unix:///var/run/crio/crio.sock pods -o json');
  expect(pods).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('connection refused') });
});
