import { civilFromDays } from '../core/index.ts';

/** `2026-11-30 12:00:00 UTC` for milliseconds since 1970. By arithmetic: this package has no clock and no calendar. */
export function utcText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const { year, month, day } = civilFromDays(days);
  const time = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60].map(two).join(':');
  return `${year}-${two(month)}-${two(day)} ${time} UTC`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
