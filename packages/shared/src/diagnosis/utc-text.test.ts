import { expect, test } from 'vitest';
import { utcText } from './utc-text.ts';

test('agrees with the calendar on leap days, ends of centuries and before 1970', () => {
  const samples = [0, 951_782_399_000, 951_782_400_000, 4_107_542_400_000, 1_764_460_799_000, 1_796_083_200_000, -1000];
  for (const ms of samples) {
    const iso = new Date(ms).toISOString();
    expect(utcText(ms)).toBe(`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`);
  }
});
