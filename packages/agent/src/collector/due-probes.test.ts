import { type ProbeKey, probeKeys, probes } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { dueProbes } from './due-probes.ts';

const order = probes.map(({ key }) => key);
const allAt = (atMs: number) => Object.fromEntries(probeKeys.map((key) => [key, atMs])) as Record<ProbeKey, number>;
const gpusEveryMs = probes.find(({ key }) => key === 'gpus')?.everyMs ?? 0;

test('runs every probe that never ran, in order', () => {
  expect(dueProbes({}, 0)).toEqual(order);
});

test('runs none before its time and each at its time', () => {
  expect(dueProbes(allAt(1_000), 1_000 + gpusEveryMs - 1)).not.toContain('gpus');
  const due = dueProbes(allAt(1_000), 1_000 + gpusEveryMs);
  expect(due).toContain('gpus');
  expect(due).not.toContain('os');
});

test('runs a probe whose last time lies ahead, as after a restart of the clock', () => {
  expect(dueProbes(allAt(10_000_000), 5)).toEqual(order);
});
