import { parseDuration } from '@gpufleet/shared/api';
import { CliError, exitCodes } from '../exit.ts';

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * A moment in the past as people say it, in ms since 1970: `2d` ago, `yesterday` or a weekday (its last midnight on this
 * machine's clock), a date, or ISO 8601. Throws a usage error.
 */
export function parseWhen(text: string, nowMs: number): number {
  const word = text.trim().toLowerCase();
  const midnight = new Date(nowMs);
  midnight.setHours(0, 0, 0, 0);
  if (word === 'today') return midnight.getTime();
  if (word === 'yesterday') return daysBefore(midnight, 1);
  const weekday = word.length >= 3 ? weekdays.findIndex((name) => name.startsWith(word)) : -1;
  // On a Tuesday, "since Tuesday" is a week ago: who means today says today.
  if (weekday >= 0) return daysBefore(midnight, ((midnight.getDay() - weekday + 6) % 7) + 1);
  const duration = parseDuration(word);
  if (duration !== undefined) return nowMs - duration;
  // A date alone is meant here, not in Greenwich.
  const atMs = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(word) ? `${word}T00:00` : text.trim());
  if (/^\d{4}-/.test(word) && !Number.isNaN(atMs)) return atMs;
  throw new CliError(
    exitCodes.usage,
    `${text}: a moment is 2d, 3h, today, yesterday, a weekday, 2026-11-24 or 2026-11-24T08:00:00Z`,
  );
}

function daysBefore(midnight: Date, days: number): number {
  const day = new Date(midnight);
  // By the calendar: days have 23 or 25 hours where the clock is changed.
  day.setDate(day.getDate() - days);
  return day.getTime();
}
