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
  // NVIDIA's own unit would lay it out again.
  await runOn(host, 'systemctl disable nvidia-mig-manager.service');
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

test('lists MIG profiles, places and instances in tables of the real width', async () => {
  const { host } = hostOf('a100-mig');
  const lines = async (verb: string) => (await runOn(host, `nvidia-smi mig ${verb}`)).stdout.trimEnd().split('\n');
  const profiles = await lines('-lgip');
  expect(new Set(profiles.map(({ length }) => length))).toEqual(new Set([79]));
  expect(profiles).toContain('|   0  MIG 1g.5gb+me     20     0/1        4.75       No     14     1     0   |');
  expect(profiles).toContain('|   1  MIG 7g.40gb        0     0/1        39.25      No     98     5     0   |');
  expect(profiles).toContain('|                                                             7     1     1   |');
  expect((await lines('-lgipp')).slice(0, 6)).toEqual([
    'GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1',
    'GPU  0 Profile ID 20 Placements: {0,1,2,3,4,5,6}:1',
    'GPU  0 Profile ID 15 Placements: {0,2,4,6}:2',
    'GPU  0 Profile ID 14 Placements: {0,2,4}:2',
    'GPU  0 Profile ID  9 Placements: {0,4}:4',
    'GPU  0 Profile ID  5 Placement : {0}:4',
  ]);
  const instances = await lines('-lgi');
  expect(new Set(instances.map(({ length }) => length))).toEqual(new Set([57]));
  expect(instances).toContain('|   0  MIG 3g.20gb          9        1          4:4     |');
  const computes = await lines('-lci');
  expect(new Set(computes.map(({ length }) => length))).toEqual(new Set([70]));
  expect(computes).toContain('|   0      1       MIG 3g.20gb          2         0          0:3     |');
});

test('tells profiles of an idle GPU by the driver’s age, and nothing of one without MIG', async () => {
  const { host, gpu } = hostOf('h100-mig');
  for (const one of host.machine.gpus) one.mig = { current: 'disabled', pending: 'disabled', instances: [] };
  expect((await runOn(host, 'nvidia-smi mig -lgip')).stdout).toContain('MIG 7g.80gb        0     0/1 ');
  expect(await runOn(host, 'nvidia-smi mig -lgi')).toMatchObject({ exitCode: 0 });
  if (host.machine.driver) Object.assign(host.machine.driver, { loaded: '535.230.02', library: '535.230.02' });
  const off = { exitCode: 6, stdout: 'No MIG-enabled devices found.\n' };
  expect(await runOn(host, 'nvidia-smi mig -lgip')).toMatchObject(off);
  expect(gpu?.mig.current).toBe('disabled');
  const plain = hostOf('x86-docker').host;
  expect(await runOn(plain, 'nvidia-smi mig -lgip')).toMatchObject({
    exitCode: 6,
    stdout: 'No MIG-supported devices found.\n',
  });
});

test('shows the NVLinks of a board with switches', async () => {
  const { stdout } = await runOn(hostOf('hgx-h100').host, 'nvidia-smi nvlink -s');
  expect(stdout.split('\n').filter((line) => line.startsWith('GPU '))).toHaveLength(8);
  expect(stdout.match(/^\t Link 17: 26\.562 GB\/s$/gm)).toHaveLength(8);
});
