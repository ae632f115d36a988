import { expect, test } from 'vitest';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { unknownMigDevice } from '../../probes/gpus/unknown-gpu.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aGpu, gpuFacts } from '../testing/facts.ts';

const plan = (gpus: Gpu[], params: { enabled: boolean; gpus?: string[] }, isTegra = false) =>
  planJob({ kind: 'set_mig_mode', params }, gpuFacts(gpus, isTegra));
const on = { current: 'enabled', pending: 'enabled', devices: [] } as const;
const pending = { current: 'disabled', pending: 'enabled', devices: [] } as const;
const aDevice = { ...unknownMigDevice(0), gpuInstanceId: 1, computeInstanceId: 0 };
const aProcess = {
  pid: 4711,
  type: 'C',
  name: 'python3',
  usedMemoryMiB: null,
  gpuInstanceId: null,
  computeInstanceId: null,
};

test('switches each GPU that is not there yet', () => {
  const given = plan(
    [aGpu(0), aGpu(1, { mig: { ...on, devices: [] } }), aGpu(2, { mig: { ...pending, devices: [] } })],
    {
      enabled: true,
    },
  );
  expect(given).toMatchObject({
    outcome: 'plan',
    steps: [
      { do: 'set_mig_mode', gpuUuid: 'GPU-0', from: 'disabled', to: 'enabled' },
      { gpuUuid: 'GPU-2', from: 'disabled', to: 'enabled' },
    ],
  });
});

test('touches only the GPUs that were named', () => {
  expect(plan([aGpu(0), aGpu(1)], { enabled: true, gpus: ['GPU-1'] })).toMatchObject({ steps: [{ gpuUuid: 'GPU-1' }] });
});

test('needs nothing when the mode is current and pending', () => {
  expect(plan([aGpu(0, { mig: { ...on, devices: [] } })], { enabled: true })).toMatchObject({ outcome: 'noop' });
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
  ['it cannot be addressed', [aGpu(0, { pciBusId: null })], true, 'gpu_unidentified', 'GPU-0'],
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
  const gpus = [aGpu(0, { mig: { ...on, devices: [] } }), aGpu(1, { lost: true, mig: { ...on, devices: [] } })];
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
  expect(verify(aGpu(0, { mig: { ...on, devices: [] } }))).toMatchObject({ ok: true });
  expect(verify(aGpu(0, { mig: { ...pending, devices: [] } }))).toMatchObject({
    ok: false,
    because: [{ because: 'pending_reset' }],
  });
  expect(verify(aGpu(0))).toMatchObject({ ok: false, because: [{ because: 'mig_differs' }] });
});
