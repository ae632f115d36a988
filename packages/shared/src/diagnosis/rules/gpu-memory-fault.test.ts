import { expect, test } from 'vitest';
import { aGpu, aHost } from '../testing/a-host.ts';
import { findingsOf } from '../testing/findings-of.ts';

const code = 'GPU_MEMORY_FAULT';
const withGpu = (change: Parameters<typeof aGpu>[0]) =>
  aHost('x86_docker', { gpus: (gpus) => ({ ...gpus, gpus: [aGpu(change)] }) });
const uuid = aGpu().uuid;

test('tells a pending row remap and proposes a reset of that GPU, when a person approves', () => {
  const [finding] = findingsOf(withGpu({ remappedRowsPending: true }), code);
  expect(finding).toMatchObject({
    subject: `gpu:${uuid}`,
    severity: 'degraded',
    evidence: [{ source: 'command:nvidia-smi -q -x', quote: '<remapped_row_pending>Yes</remapped_row_pending>' }],
    remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: uuid } }], approval: 'approve' },
  });
});

test('sends a card whose remap failed to a person: a reset does not repair it', () => {
  const [finding] = findingsOf(withGpu({ remappedRowsPending: true, remappedRowsFailure: true }), code);
  expect(finding).toMatchObject({ severity: 'critical', remedy: null });
  expect(finding?.evidence).toHaveLength(2);
});

test('tells uncorrected memory errors since the driver was loaded', () => {
  expect(findingsOf(withGpu({ eccUncorrectedVolatile: 2 }), code)).toHaveLength(1);
});

test('is silent on clean counters, counters that are not given, and a lost GPU', () => {
  expect(findingsOf(withGpu({}), code)).toEqual([]);
  const unknown = { remappedRowsPending: null, remappedRowsFailure: null, eccUncorrectedVolatile: null };
  expect(findingsOf(withGpu(unknown), code)).toEqual([]);
  expect(findingsOf(withGpu({ lost: true, remappedRowsPending: true }), code)).toEqual([]);
});
