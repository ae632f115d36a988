import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIsoTime } from './parse-iso-time.ts';

test('reads a time as the platform does', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
      const text = date.toISOString();
      expect(parseIsoTime(text)).toBe(Math.floor(date.getTime() / 1000) * 1000);
      expect(parseIsoTime(text.replace(/\.\d+Z$/, 'Z'))).toBe(Math.floor(date.getTime() / 1000) * 1000);
    }),
  );
});

test.each([null, '', 'null', '2026-06-10', '2026-06-10 04:58:50', 7])('is not known from %s', (given) => {
  expect(parseIsoTime(given)).toBeNull();
});
