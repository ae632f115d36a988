import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { aBench, type Bench } from '../testing/an-engine.ts';
import { doneTo, holdGpu } from './testing/gpu-bench.ts';

const reset = (gpu: string, more = {}): JobRequest => ({ kind: 'reset_gpu', params: { gpu, ...more } });
const uuidOf = ({ host }: Bench, minor: number) => host.machine.gpus[minor]?.uuid ?? '';

test('a MIG mode that waits for it, as the rule proposes, has its reset once nobody holds the GPU', async () => {
  const bench = aBench('a100-mig', ['mig_change_pending']);
  const engine = bench.engine();
  const request = reset(uuidOf(bench, 0));
  expect(await engine.runLocal(request)).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'in_use_by_container' }],
  });
  for (const gpu of bench.host.machine.gpus) gpu.clients = [];
  expect(await engine.runLocal(request)).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench)).toEqual([
    'stop nvidia-persistenced.service',
    'gpu_reset reset',
    'start nvidia-persistenced.service',
  ]);
  expect(bench.host.faults).toEqual([]);
  expect(await engine.runLocal(request)).toMatchObject({ outcome: 'noop' });
});

test('a forced reset makes the instances again that were there', async () => {
  const bench = aBench('h100-mig');
  const [gpu] = bench.host.machine.gpus;
  const layout = () => gpu?.mig.instances.map(({ profile, start }) => `${profile}@${start}`).sort();
  const before = layout();
  expect(await bench.engine().runLocal(reset(uuidOf(bench, 0), { force: true }))).toMatchObject({
    outcome: 'succeeded',
  });
  expect(doneTo(bench)).toContain('gpu_reset reset');
  expect(layout()).toEqual(before);
  expect(before).toHaveLength(7);
});

test.each([
  ['nvidia_smi_denied', 'no_permission'],
  ['nvidia_smi_pretends', 'mig_pending'],
] as const)('with %s it has failed, and who was stopped runs again', async (fault, because) => {
  const bench = aBench('a100-mig', ['mig_change_pending', fault]);
  for (const gpu of bench.host.machine.gpus) gpu.clients = [];
  const result = await bench.engine().runLocal(reset(uuidOf(bench, 0)));
  expect(result.because).toMatchObject([{ because }]);
  expect(result.outcome).toBe('rolled_back');
  expect(bench.host.machine.units.get('nvidia-persistenced.service')?.active).toBe('active');
});

test('a program that takes the GPU after the plan keeps it', async () => {
  const bench = aBench('h100-mig');
  const { host } = bench;
  const engine = bench.engine({
    host: {
      ...host,
      run: (argv, options) => {
        if (argv.includes('--gpu-reset')) holdGpu(bench, 2);
        return host.run(argv, options);
      },
    },
  });
  const result = await engine.runLocal(reset(uuidOf(bench, 2), { force: true }));
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'in_use' }] });
  expect(host.machine.gpus[2]?.clients).toHaveLength(1);
});

test.each(['orin', 'thor'] as const)('%s: the GPU of a board is not reset', async (hostClass) => {
  const bench = aBench(hostClass);
  const result = await bench.engine().runLocal(reset('index-0', { force: true }));
  expect(result).toMatchObject({ outcome: 'failed', because: [{ because: 'integrated_gpu' }] });
});
