import { expect, test } from 'vitest';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { unknownMigDevice } from '../../probes/gpus/unknown-gpu.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aFact, aFile, aGpu, aUnit, gpuFacts, noMigBoot } from '../testing/facts.ts';

const plan = (
  gpus: Gpu[],
  params: { enabled: boolean; gpus?: string[]; destroyInstances?: boolean },
  isTegra = false,
) => planJob({ kind: 'set_mig_mode', params }, gpuFacts(gpus, isTegra));
const on: Gpu['mig'] = { current: 'enabled', pending: 'enabled', devices: [] };
const pending: Gpu['mig'] = { current: 'disabled', pending: 'enabled', devices: [] };
const aDevice = { ...unknownMigDevice(0), gpuInstanceId: 1, computeInstanceId: 0 };
const active = { mode: null, attached: null, active: 'Enabled' };
const aProcess = {
  pid: 4711,
  type: 'C',
  name: 'python3',
  usedMemoryMiB: null,
  gpuInstanceId: null,
  computeInstanceId: null,
};

test('switches each GPU that is not there yet, and resets it where that is waited for', () => {
  const given = plan([aGpu(0), aGpu(1, { mig: on }), aGpu(2, { mig: pending })], { enabled: true });
  expect(given).toMatchObject({
    outcome: 'plan',
    steps: [
      { do: 'set_mig_mode', gpuUuid: 'GPU-0', from: 'disabled', to: 'enabled', mayPend: true },
      { do: 'reset_gpu', gpuUuids: ['GPU-0'], when: 'mig_pending' },
      { do: 'set_mig_mode', gpuUuid: 'GPU-2' },
      { do: 'reset_gpu', gpuUuids: ['GPU-2'] },
    ],
  });
});

test('touches only the GPUs that were named, by UUID, place on the bus or position', () => {
  const gpus = [aGpu(0), aGpu(1), aGpu(2, { uuid: 'GPU-2' })];
  for (const name of ['GPU-1', '0000:18:00.0', '00000000:18:00.0', 'index-1'])
    expect(plan(gpus, { enabled: true, gpus: [name] })).toMatchObject({ steps: [{ gpuUuid: 'GPU-1' }, {}] });
});

test('needs nothing when the mode is current and pending', () => {
  expect(plan([aGpu(0, { mig: on })], { enabled: true })).toMatchObject({ outcome: 'noop' });
});

test.each([
  [
    'the GPU is not MIG capable',
    [aGpu(0), aGpu(1, { mig: { current: null, pending: null, devices: [] } })],
    true,
    'not_mig_capable',
    'GPU-1',
  ],
  ['a process uses it', [aGpu(0, { processes: [aProcess] })], true, 'in_use', 'python3 (pid 4711)'],
  [
    'instances would be lost',
    [aGpu(0, { mig: { ...on, devices: [aDevice] } })],
    false,
    'has_instances',
    '1 MIG devices',
  ],
  ['it fell off the bus', [aGpu(0, { lost: true })], true, 'gpu_lost', 'GPU-0'],
  ['it cannot be addressed', [aGpu(0, { uuid: null })], true, 'gpu_unidentified', '00000000:17'],
  ['it drives a display', [aGpu(0, { display: active })], true, 'display_attached', 'GPU-0'],
  ['there is none', [], true, 'no_gpus', 'no GPU'],
])('is blocked when %s', (_, gpus, enabled, because, detail) => {
  const given = plan(gpus, { enabled });
  expect(given).toMatchObject({ outcome: 'blocked', because: [{ because }] });
  expect(given.because[0]?.detail).toContain(detail);
});

test('is blocked for a GPU that is not there and for the integrated one of a Jetson', () => {
  expect(plan([aGpu(0)], { enabled: true, gpus: ['GPU-9'] })).toMatchObject({
    because: [{ because: 'gpu_not_found' }],
  });
  expect(plan([aGpu(0, { name: 'Orin (nvgpu)' })], { enabled: true }, true)).toMatchObject({
    because: [{ because: 'integrated_gpu' }],
  });
});

test('what a lost GPU says of itself counts for nothing', () => {
  const gpus = [aGpu(0, { mig: on }), aGpu(1, { lost: true, mig: on })];
  expect(plan(gpus, { enabled: true })).toMatchObject({ outcome: 'blocked', because: [{ because: 'gpu_lost' }] });
  expect(plan(gpus, { enabled: true, gpus: ['GPU-0'] })).toMatchObject({ outcome: 'noop' });
  expect(verifyJob({ kind: 'set_mig_mode', params: { enabled: true } }, gpuFacts(gpus), {})).toMatchObject({
    ok: false,
    because: [{ because: 'gpu_lost' }],
  });
});

test.each([
  ['38.2.0', 'blocked'],
  ['39.2.0', 'plan'],
  [null, 'plan'],
])('with L4T %s a Thor board is %s', (l4t, outcome) => {
  const facts = gpuFacts([aGpu(0, { name: 'NVIDIA Thor' })], true, l4t);
  expect(planJob({ kind: 'set_mig_mode', params: { enabled: true } }, facts)).toMatchObject({ outcome });
});

test('a mode that waits for a reset is not verified', () => {
  const verify = (gpu: Gpu) => verifyJob({ kind: 'set_mig_mode', params: { enabled: true } }, gpuFacts([gpu]), {});
  expect(verify(aGpu(0, { mig: on }))).toMatchObject({ ok: true });
  expect(verify(aGpu(0, { mig: pending }))).toMatchObject({
    ok: false,
    because: [{ because: 'pending_reset' }],
  });
  expect(verify(aGpu(0))).toMatchObject({ ok: false, because: [{ because: 'mig_differs' }] });
});

const hopper = (over: Partial<Gpu> = {}) => aGpu(0, { architecture: 'Hopper', ...over });

test('a mode that the driver forgets is set again at each boot; an Ampere GPU remembers it', () => {
  expect(plan([aGpu(0)], { enabled: true })).toMatchObject({ steps: [{ do: 'set_mig_mode' }, {}] });
  expect(plan([hopper()], { enabled: true })).toMatchObject({
    steps: [
      { do: 'set_mig_mode' },
      { do: 'reset_gpu' },
      { do: 'write_file', path: '/etc/gpufleet/mig.json' },
      { do: 'write_file', path: '/etc/systemd/system/gpufleet-mig.service' },
      { do: 'reload_units' },
      { do: 'enable_unit', unit: 'gpufleet-mig.service' },
    ],
  });
  expect(plan([hopper({ mig: on })], { enabled: true })).toMatchObject({ because: [{ because: 'lost_at_boot' }] });
  expect(plan([hopper()], { enabled: false })).toMatchObject({ outcome: 'noop' });
});

test('what another program lays out at boot is said to be otherwise', () => {
  const manager = aUnit('nvidia-mig-manager.service', { enabled: 'enabled' });
  const facts = { ...gpuFacts([aGpu(0)]), units: aFact({ units: [manager], failedNames: [] }) };
  const off = { kind: 'set_mig_mode' as const, params: { enabled: false } };
  expect(planJob(off, facts)).toMatchObject({
    steps: [{ contents: expect.stringContaining('"enabled": false') }, {}, {}, {}],
  });
});

test('a layout file that cannot be understood is not overwritten', () => {
  const layoutFile = aFile('/etc/gpufleet/mig.json', { error: 'not a MIG layout' });
  const facts = { ...gpuFacts([hopper()]), mig_boot: aFact({ ...noMigBoot, layoutFile }) };
  expect(planJob({ kind: 'set_mig_mode', params: { enabled: true } }, facts)).toMatchObject({
    because: [{ because: 'boot_layout_invalid' }],
  });
});

test('instances that were not told are not destroyed: nothing could make them again', () => {
  const gpus = [aGpu(0, { mig: { ...on, devices: [aDevice] } })];
  expect(plan(gpus, { enabled: false, destroyInstances: true })).toMatchObject({
    because: [{ because: 'instances_unknown' }],
  });
});
