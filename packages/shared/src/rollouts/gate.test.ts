import { expect, test } from 'vitest';
import { countWave, judgeGate } from './gate.ts';
import type { SlotView } from './snapshot.ts';
import type { SlotState } from './states.ts';
import { aSlot, aSnapshot, aWave } from './testing/a-world.ts';

function judge(states: SlotState[], parts: { percent?: number; isCanary?: boolean; change?: Partial<SlotView> } = {}) {
  const slots = states.map((state, at) => aSlot(`${at}`, state, at === 0 ? parts.change : {}));
  const snapshot = aSnapshot(slots, { policy: { failure: { percent: parts.percent ?? 10, max: 3 } } });
  const wave = aWave({ isCanary: parts.isCanary ?? false });
  return { ...judgeGate(snapshot, wave), counters: countWave(snapshot, wave) };
}

const good = (n: number): SlotState[] => Array.from({ length: n }, () => 'succeeded');

test.each<[string, SlotState[], string]>([
  ['all did well', [...good(2), 'noop'], 'pass'],
  ['one of nine failed', [...good(8), 'failed'], 'halt'],
  ['one of ten failed', [...good(9), 'failed'], 'pass'],
  ['two of ten failed', [...good(8), 'failed', 'rolled_back'], 'halt'],
  ['one of ten is unknown', [...good(9), 'unknown'], 'wait'],
  ['one of ten failed and one is unknown', [...good(8), 'failed', 'unknown'], 'halt'],
  ['one is still at work', [...good(9), 'granted'], 'wait'],
  ['one still waits', [...good(9), 'waiting'], 'wait'],
  ['one of ten could not be put back', [...good(9), 'rollback_failed'], 'halt'],
  ['one of ten was left out and one failed', [...good(8), 'failed', 'skipped'], 'halt'],
  ['one is deferred', [...good(3), 'deferred'], 'pass'],
  ['nobody counts', ['deferred', 'canceled'], 'pass'],
])('when %s, the gate says so', (_what, states, verdict) => {
  expect(judge(states).at).toBe(verdict);
});

test('a canary tolerates nothing', () => {
  expect(judge([...good(9), 'failed'], { isCanary: true })).toMatchObject({ at: 'halt', because: 'canary_failed' });
});

test('a failure that a person accepted leaves the count, a host that could not be put back too', () => {
  for (const state of ['failed', 'rollback_failed', 'unknown'] as const)
    expect(judge([state, ...good(3)], { change: { disposition: 'accept' } })).toMatchObject({
      at: 'pass',
      counters: { counted: 3, bad: 0, unknown: 0, leftOut: 1 },
    });
});

test('zero percent tolerates nobody, however many there are', () => {
  expect(judge([...good(49), 'failed'], { percent: 0 }).at).toBe('halt');
});
