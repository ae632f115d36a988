import { expect, test } from 'vitest';
import { aGpu, aHost } from '../testing/a-host.ts';
import { findingsOf } from '../testing/findings-of.ts';

const code = 'MIG_CHANGE_PENDING';
const withGpu = (change: Parameters<typeof aGpu>[0]) =>
  aHost('mig', { gpus: (gpus) => ({ ...gpus, gpus: [aGpu(change)] }) });

test('tells a pending mode with every process that holds the GPU', () => {
  const holder = {
    pid: 4711,
    type: 'C',
    name: 'python3',
    usedMemoryMiB: 900,
    gpuInstanceId: null,
    computeInstanceId: null,
  };
  const [finding] = findingsOf(
    withGpu({ mig: { current: 'disabled', pending: 'enabled', devices: [] }, processes: [holder] }),
    code,
  );
  expect(finding).toMatchObject({
    severity: 'warning',
    remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: aGpu().uuid } }], approval: 'approve' },
  });
  expect(finding?.evidence.map(({ quote }) => quote)).toEqual([
    'current_mig Disabled, pending_mig Enabled',
    'held by pid 4711 (python3)',
  ]);
});

test('is silent when the modes are equal, or not given', () => {
  expect(findingsOf(aHost('mig'), code)).toEqual([]);
  expect(findingsOf(withGpu({ mig: { current: null, pending: null, devices: [] } }), code)).toEqual([]);
  expect(findingsOf(withGpu({ mig: { current: 'enabled', pending: null, devices: [] } }), code)).toEqual([]);
});
