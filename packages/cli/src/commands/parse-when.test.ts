import { describe, expect, test } from 'vitest';
import { parseWhen } from './parse-when.ts';

/** A Wednesday, in this machine's own zone. */
const now = new Date(2026, 10, 25, 15, 30).getTime();
const at = (day: number, hour = 0) => new Date(2026, 10, day, hour).getTime();

test.each([
  ['today', at(25)],
  ['yesterday', at(24)],
  ['tuesday', at(24)],
  ['Tue', at(24)],
  ['monday', at(23)],
  ['thursday', at(19)],
  ['wednesday', at(18)],
  ['2d', now - 2 * 86_400_000],
  ['1h30m', now - 5_400_000],
  ['2026-11-20', at(20)],
  ['2026-11-20T10:00:00Z', Date.UTC(2026, 10, 20, 10)],
])('%s', (text, expected) => expect(parseWhen(text, now)).toBe(expected));

describe('what is no moment is a usage error that says what is', () => {
  test.each(['', 't', 'tuesdays', '5', '-2d', '2026-13-45', 'last week'])('%j', (text) =>
    expect(() => parseWhen(text, now)).toThrow('a moment is 2d'),
  );
});
