import { expect, test } from 'vitest';
import { Duration, parseDuration } from './duration.ts';
import { toPolicy } from './policy.ts';
import { RolloutSpec } from './spec.ts';

test.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['0s', 0],
  ['2d', 172_800_000],
  ['90', undefined],
  ['1h 30m', undefined],
  ['-1s', undefined],
  ['', undefined],
])('%j is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test('a duration of more than a year is refused, however it is spelled', () => {
  expect(Duration.safeParse('366d').success).toBe(true);
  expect(Duration.safeParse('366d1s').success).toBe(false);
  expect(Duration.safeParse('1s'.repeat(100_000)).success).toBe(false);
});

test('a strategy of defaults is a whole policy', () => {
  const spec = {
    apiVersion: 'gpufleet/v1',
    kind: 'Rollout',
    name: 'a',
    jobs: [{ kind: 'restart_service', params: {} }],
  };
  expect(toPolicy(RolloutSpec.parse(spec))).toEqual({
    failure: { percent: 10, max: 3 },
    budget: { percent: 25, max: 5 },
    soakMs: 600_000,
    deferAfterMs: 300_000,
    catchUpMs: 86_400_000,
    contactGraceMs: 120_000,
    gate: 'automatic',
    offline: 'defer',
    window: null,
    allowControlPlaneDowntime: false,
  });
});
