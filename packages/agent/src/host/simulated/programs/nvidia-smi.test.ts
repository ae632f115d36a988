import { expect, test } from 'vitest';
import { createSimulatedHost, type SimulatedClass } from '../index.ts';
import { runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';

function hostOf(className: SimulatedClass) {
  const host = createSimulatedHost({ class: className, name: 'host-1', clock: createStoppedClock() });
  const gpu = host.machine.gpus[0];
  return {
    host,
    gpu,
    busId: gpu?.busId ?? '',
    setMig: (mode: string) => runOn(host, `nvidia-smi -i ${gpu?.busId} -mig ${mode}`),
  };
}

const busy = { pid: 4711, name: 'python3', usedMiB: 900, gpuInstanceId: null };

test('switches MIG off at once on an idle A100, and its instances are gone', async () => {
  const { host, gpu, busId, setMig } = hostOf('a100-mig');
  expect(await setMig('0')).toMatchObject({ exitCode: 0, stdout: `Disabled MIG Mode for GPU ${busId}\nAll done.\n` });
  expect(gpu?.mig).toEqual({ current: 'disabled', pending: 'disabled', instances: [] });
  expect(host.effects).toEqual([{ atMs: expect.any(Number), do: 'mig', gpu: gpu?.uuid, to: 'disabled', ok: true }]);
});

test('says the same when the mode is there already', async () => {
  const { gpu, busId, setMig } = hostOf('a100-mig');
  expect((await setMig('1')).stdout).toBe(`Enabled MIG Mode for GPU ${busId}\nAll done.\n`);
  expect(gpu?.mig.instances).toHaveLength(4);
});

test('leaves the change pending, with exit code 0, while a program holds an A100', async () => {
  const { host, gpu, busId, setMig } = hostOf('a100-mig');
  gpu?.clients.push(busy);
  const ran = await setMig('0');
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toMatch(
    new RegExp(`^Warning: MIG mode is in pending disable state for GPU ${busId}:In use by another client\n`),
  );
  const xml = (await runOn(host, 'nvidia-smi -q -x')).stdout;
  expect(xml).toContain('<current_mig>Enabled</current_mig>\n\t\t\t<pending_mig>Disabled</pending_mig>');
  expect(xml).toContain('<process_name>python3</process_name>');
  host.reboot();
  expect(gpu?.mig).toEqual({ current: 'disabled', pending: 'disabled', instances: [] });
});

test('refuses while a program holds an H100', async () => {
  const { gpu, busId, setMig } = hostOf('h100-mig');
  gpu?.clients.push(busy);
  expect(await setMig('0')).toMatchObject({
    exitCode: 19,
    stdout: `Unable to disable MIG Mode for GPU ${busId}: In use by another client\nTerminating early due to previous errors.\n`,
  });
  expect(gpu?.mig.pending).toBe('enabled');
});

test('a GPU without MIG is a warning with exit code 0', async () => {
  const { busId, setMig } = hostOf('x86-docker');
  expect(await setMig('1')).toMatchObject({
    exitCode: 0,
    stdout: `Unable to enable MIG Mode for GPU ${busId}: Not Supported\nTreating as warning and moving on.\nAll done.\n`,
  });
});

test.each([
  ['nvidia-smi -i 00000000:FF:00.0 -mig 1', 6, 'No devices were found\n'],
  ['nvidia-smi -i 0 -mig 2', 2, 'Invalid MIG Mode: 2\n'],
])('%s', async (line, exitCode, stdout) => {
  expect(await runOn(hostOf('a100-mig').host, line)).toMatchObject({ exitCode, stdout, stderr: '' });
});

test('takes a GPU by its UUID', async () => {
  const { host, gpu } = hostOf('h100-mig');
  expect((await runOn(host, `nvidia-smi -i ${gpu?.uuid} -mig 0`)).exitCode).toBe(0);
  expect(gpu?.mig.current).toBe('disabled');
});

test('ends with 9 without a driver and with 18 when the library is newer, whatever it is asked', async () => {
  const { host } = hostOf('x86-docker');
  if (!host.machine.driver) throw new Error('the class has a driver');
  host.machine.driver.library = '575.1.2';
  expect(await runOn(host, 'nvidia-smi -L')).toMatchObject({
    exitCode: 18,
    stdout: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 575.1\n',
  });
  host.machine.driver.loaded = null;
  expect(await runOn(host, 'nvidia-smi -q -x')).toMatchObject({ exitCode: 9, stderr: '' });
});
