import { z } from 'zod';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `10m`, `1h30m`, `0s` → milliseconds; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,6}[smhd])+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    totalMs += Number(count) * unitMs[unit as keyof typeof unitMs];
  return totalMs;
}

const longestMs = 366 * unitMs.d;

export const Duration = z
  .string()
  .max(64)
  .refine((text) => parseDuration(text) !== undefined, 'a duration is a number and s, m, h or d, e.g. 90s or 1h30m')
  .refine((text) => (parseDuration(text) ?? 0) <= longestMs, 'a duration is at most 366d');
