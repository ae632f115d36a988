import { expect, test } from 'vitest';
import { parseCount } from './parse-count.ts';

test.each([
  ['1', 1],
  ['200', 200],
])('%s', (text, count) => expect(parseCount(text)).toBe(count));

test.each(['', '0', '-1', 'abc', '1.5', '1e3', '1000000'])('%j is a usage error', (text) => {
  expect(() => parseCount(text)).toThrow('a whole number');
});
