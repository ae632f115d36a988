import { daysFromCivil } from '../core/index.ts';

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** RFC 3339 (`2026-11-24T08:00:00.123456789Z`) in ms since 1970; null when it is none, or Go's zero time: never. */
export function parseMoment(text: string | null): number | null {
  const match = text === null ? null : pattern.exec(text);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (year <= 1 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
    return null;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offsetMinutes = (match[8] === '-' ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  const minutes = daysFromCivil(year, month, day) * 1440 + hour * 60 + minute - offsetMinutes;
  return (minutes * 60 + second) * 1000 + milliseconds;
}
