import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { smiXmlText } from '../testing/smi-xml-text.ts';
import { gpusProbe } from './index.ts';

const query = 'nvidia-smi -q -x';
const list = 'nvidia-smi -L';
const uuid = 'GPU-00000000-0000-0000-0000-000000000000';
const migXml = smiXmlText({
  gpus: [
    {
      uuid,
      mig: { current: 'Enabled', pending: 'Enabled' },
      migDevices: [
        { index: 0, gi: 2, ci: 0 },
        { index: 1, gi: 9, ci: 0 },
      ],
    },
  ],
});

test('asks nvidia-smi once on a host without MIG', async () => {
  const { value, partial, reader } = await collectOn(gpusProbe, { commands: { [query]: smiXmlText() } });
  expect(value?.gpus).toHaveLength(1);
  expect(partial).toEqual([]);
  expect(reader.reads.commands).toEqual([['nvidia-smi', '-q', '-x']]);
});

test('names MIG devices by what nvidia-smi -L lists, GPU by GPU', async () => {
  const listed = `GPU 0: other (UUID: GPU-ffffffff-0000-0000-0000-000000000000)
  MIG 7g.80gb     Device  0: (UUID: MIG-wrong)
GPU 1: H100 (UUID: ${uuid})
  MIG 4g.40gb     Device  0: (UUID: MIG-a)
`;
  const { value, partial } = await collectOn(gpusProbe, { commands: { [query]: migXml, [list]: listed } });
  expect(value?.gpus[0]?.mig.devices.map(({ profile, uuid: id }) => [profile, id])).toEqual([
    ['4g.40gb', 'MIG-a'],
    [null, null],
  ]);
  expect(partial).toEqual([{ path: 'gpus.0.mig.devices.1.uuid', because: 'not_listed' }]);
});

test('keeps the report when the list cannot be had', async () => {
  const { value, partial } = await collectOn(gpusProbe, {
    commands: { [query]: migXml, [list]: { timedOut: true, exitCode: null } },
  });
  expect(value?.gpus[0]?.mig.devices).toHaveLength(2);
  expect(partial?.map(({ because }) => because)).toEqual(['timed_out', 'timed_out']);
});

test('reads a driver without GPUs as no GPU', async () => {
  const { value } = await collectOn(gpusProbe, {
    commands: { [query]: { exitCode: 6, stdout: 'No devices were found\n' } },
  });
  expect(value).toMatchObject({ attached: 0, gpus: [] });
});

test.each([
  [
    { exitCode: 9, stdout: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver." },
    'driver_not_loaded',
  ],
  [{ exitCode: 18, stdout: 'Failed to initialize NVML: Driver/library version mismatch' }, 'driver_library_mismatch'],
  [
    { exitCode: 15, stdout: 'Unable to determine the device handle for GPU0000:0B:00.0: GPU is lost.  Reboot' },
    'gpu_lost',
  ],
  [{ exitCode: 15, stdout: '' }, 'gpu_lost'],
  [{ exitCode: null, timedOut: true }, 'timed_out'],
  [{ exitCode: 255, stdout: 'Failed to initialize NVML: Unknown Error' }, 'nvml_unknown_error'],
  [{ exitCode: 0, stdout: 'surprise' }, 'not_smi_xml'],
  [{ fails: 'not_recorded' as const }, 'not_recorded'],
])('gives no value but a reason when %j', async (said, because) => {
  const { value, unreadable } = await collectOn(gpusProbe, { commands: { [query]: said } });
  expect(value).toBeNull();
  expect(unreadable?.because).toBe(because);
});

test('is absent where nvidia-smi is', async () => {
  expect((await collectOn(gpusProbe, {})).unreadable?.because).toBe('absent');
});

test('takes a whole report although nvidia-smi warns after it and ends with a code', async () => {
  const stdout = `${smiXmlText()}WARNING: infoROM is corrupted at gpu 0000:17:00.0\n`;
  const { value, partial } = await collectOn(gpusProbe, { commands: { [query]: { exitCode: 14, stdout } } });
  expect(value?.gpus).toHaveLength(1);
  expect(partial).toEqual([]);
});

test('keeps the GPUs that were printed before the report broke off, and says where', async () => {
  const whole = smiXmlText({ gpus: [{}, {}] });
  const stdout = whole.slice(0, whole.lastIndexOf('<performance_state>'));
  const { value, partial } = await collectOn(gpusProbe, { commands: { [query]: { exitCode: 0, stdout } } });
  expect(value).toMatchObject({ attached: 2, gpus: [{ temperatureC: 41 }, { temperatureC: null }] });
  expect(partial).toEqual([{ path: 'gpus.1', because: 'truncated' }]);
});

test.each([
  ['ended by a signal, whatever it had printed', { exitCode: null, stdout: smiXmlText() }, 'killed'],
  ['hung, whatever it had printed', { exitCode: null, timedOut: true, stdout: smiXmlText() }, 'timed_out'],
  [
    'failed with exit code 0',
    { exitCode: 0, stdout: 'Failed to initialize NVML: Unknown Error\n' },
    'nvml_unknown_error',
  ],
  ['printed nothing and exit code 0', { exitCode: 0, stdout: '' }, 'not_smi_xml'],
  ['complained on the other stream', { exitCode: 9, stderr: 'no such driver' }, 'driver_not_loaded'],
])('gives no value of an nvidia-smi that %s', async (_, said, because) => {
  const { value, unreadable } = await collectOn(gpusProbe, { commands: { [query]: said } });
  expect(value).toBeNull();
  expect(unreadable?.because).toBe(because);
});

test('does not ask again after a report that could not be had', async () => {
  const hung = await collectOn(gpusProbe, { commands: { [query]: { exitCode: null, timedOut: true }, [list]: '' } });
  expect(hung.reader.reads.commands).toHaveLength(1);
});
