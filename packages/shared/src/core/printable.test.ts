import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test('spells out what would drive a terminal, and nothing else', () => {
  expect(printable('a\u001b]0;title\u0007b\r')).toBe('a\\u001b]0;title\\u0007b\\u000d');
  expect(printable('\u009b2J \u007f \u202eabc')).toBe('\\u009b2J \\u007f \\u202eabc');
  expect(printable('grün\tja\nnein 日本 🟢')).toBe('grün\tja\nnein 日本 🟢');
});

test('JSON means the same afterwards', () => {
  const value = { a: '\u001b[2J\u009b\u007f\u202e\r\n' };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});
