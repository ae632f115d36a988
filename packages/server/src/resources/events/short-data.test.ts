import { expect, test } from 'vitest';
import { maxDataCharacters, shortData } from './short-data.ts';

test('what is short stays as it is', () => {
  const data = { state: 'failed', because: [{ because: 'timed_out', detail: 'x'.repeat(500) }], n: 1, none: null };
  expect(shortData(data)).toEqual(data);
});

test('long texts are cut, and data that is long all the same is left out', () => {
  expect(shortData({ detail: 'x'.repeat(900_000) })).toEqual({ detail: `${'x'.repeat(499)}…` });
  expect(shortData(Array.from({ length: 60 }, () => 1))).toHaveLength(50);
  const many = Array.from({ length: 40 }, () => 'x'.repeat(900));
  expect(shortData(many)).toEqual({ leftOut: expect.stringContaining('characters') });
  expect(JSON.stringify(shortData(many)).length).toBeLessThan(maxDataCharacters);
});
