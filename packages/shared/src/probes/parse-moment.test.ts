import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMoment } from './parse-moment.ts';

test.each([
  ['2026-11-24T08:00:00Z', Date.UTC(2026, 10, 24, 8)],
  ['2026-11-24T08:00:00.123456789Z', Date.UTC(2026, 10, 24, 8, 0, 0, 123)],
  ['2024-02-29T23:59:59.5+02:00', Date.UTC(2024, 1, 29, 21, 59, 59, 500)],
  ['1970-01-01T00:00:00-00:30', 1_800_000],
  ['0001-01-01T00:00:00Z', null],
  ['2026-13-01T00:00:00Z', null],
  ['2026-11-24 08:00:00', null],
  ['', null],
  [null, null],
])('%s', (text, expected) => expect(parseMoment(text)).toBe(expected));

test('reads a moment as the platform does', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
      expect(parseMoment(date.toISOString())).toBe(date.getTime());
    }),
  );
});
