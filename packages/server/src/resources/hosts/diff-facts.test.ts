import { expect, test } from 'vitest';
import { diffFacts } from './diff-facts.ts';

const fact = (value: unknown, rest = {}) =>
  JSON.parse(JSON.stringify({ readAtMs: 1, how: [], value, unreadable: null, partial: [], ...rest }));

test('tells the path, the old and the new value', () => {
  const before = fact({ gpus: [{ mig: 'disabled', name: 'A100' }] });
  const after = fact({ gpus: [{ mig: 'enabled', name: 'A100' }] });
  expect(diffFacts('gpus', before, after)).toEqual([
    { path: 'value.gpus.0.mig', before: 'disabled', after: 'enabled' },
  ]);
});

test('when and how it was read is no change', () => {
  expect(diffFacts('gpus', fact({ a: 1 }), fact({ a: 1 }, { readAtMs: 2, how: ['file:/x'] }))).toEqual([]);
});

test('a value that came or went stands beside null', () => {
  expect(diffFacts('gpus', fact({ a: 1 }), fact({ b: 2 }))).toEqual([
    { path: 'value.a', before: 1, after: null },
    { path: 'value.b', before: null, after: 2 },
  ]);
});

test('a fact that became unreadable tells the reason', () => {
  const reason = { because: 'denied', detail: 'no' };
  expect(diffFacts('gpus', fact(1), fact(null, { unreadable: reason }))).toEqual([
    { path: 'value', before: 1, after: null },
    { path: 'unreadable', before: null, after: reason },
  ]);
});

test('a long value is told by its length', () => {
  const [change] = diffFacts('gpus', fact('x'), fact('y'.repeat(5_000)));
  expect(change?.after).toBe('(5002 characters)');
});

test('no more changes are told than the limit', () => {
  const many = (offset: number) => fact(Array.from({ length: 500 }, (_, i) => i + offset));
  expect(diffFacts('gpus', many(0), many(1))).toHaveLength(100);
});

test('a report that differs only in what never rests changed nothing', () => {
  const at = (temperatureC: number, throttleReasons: string[]) =>
    fact({ gpus: [{ name: 'A100', temperatureC, throttleReasons }] });
  expect(diffFacts('gpus', at(41, []), at(77, ['sw_power_cap']))).toEqual([]);
  expect(diffFacts('os', at(41, []), at(77, []))).toHaveLength(1);
});
