import { daysFromCivil } from '../core/index.ts';
import type { Window } from './spec.ts';

export type WindowStatus = { open: true; closesAtMs: number } | { open: false; opensAtMs: number };

/** A time in which nothing starts at a site. */
export interface FreezeSpan {
  fromMs: number;
  toMs: number;
  reason: string;
}

const dayMs = 86_400_000;
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * Is the window open? `zone: site` takes `siteZone`. A window belongs to the day on which it opens and runs over midnight
 * when `to` is not after `from`. Where the clocks skip an edge, the edge is the moment of the skip; where they repeat it,
 * it is the first of the two.
 */
export function windowStatus(window: Window, siteZone: string, nowMs: number): WindowStatus {
  const zone = window.zone === 'site' ? siteZone : window.zone;
  const today = Math.floor(toWallMs(zone, nowMs) / dayMs);
  let closesAtMs: number | undefined;
  for (let day = today - 1; day <= today + 8; day += 1) {
    if (!window.days.includes(weekdayOf(day))) continue;
    const opensAtMs = toInstantMs(zone, day * dayMs + minutesOf(window.from) * 60_000);
    const closingDay = minutesOf(window.to) <= minutesOf(window.from) ? day + 1 : day;
    const endsAtMs = toInstantMs(zone, closingDay * dayMs + minutesOf(window.to) * 60_000);
    if (endsAtMs <= nowMs || endsAtMs <= opensAtMs) continue;
    // Windows that touch, such as whole days, are one window.
    if (closesAtMs === undefined) {
      if (opensAtMs > nowMs) return { open: false, opensAtMs };
      closesAtMs = endsAtMs;
    } else if (opensAtMs > closesAtMs) {
      break;
    } else {
      closesAtMs = Math.max(closesAtMs, endsAtMs);
    }
  }
  // Every schedule has a day in each week; only a window that the clocks skipped whole can be further away.
  return closesAtMs === undefined ? { open: false, opensAtMs: nowMs + 8 * dayMs } : { open: true, closesAtMs };
}

/** The freeze that holds now, if any; of several the one that ends last. */
export function activeFreeze(freezes: readonly FreezeSpan[], nowMs: number): FreezeSpan | undefined {
  return freezes
    .filter((freeze) => freeze.fromMs <= nowMs && nowMs < freeze.toMs)
    .reduce<FreezeSpan | undefined>((last, freeze) => (last && last.toMs >= freeze.toMs ? last : freeze), undefined);
}

export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    // Intl has no other way to ask: it throws a RangeError for a zone that it does not know.
    return false;
  }
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** Days are counted from 1970-01-01, a Thursday. */
function weekdayOf(day: number): (typeof weekdays)[number] {
  return weekdays[(((day + 4) % 7) + 7) % 7] ?? 'sun';
}

/** What a clock on the wall of `zone` shows, as if it were UTC. */
function toWallMs(zone: string, atMs: number): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(atMs)) part[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
  return daysFromCivil(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1_000;
}

function offsetMs(zone: string, atMs: number): number {
  const wholeSecond = Math.floor(atMs / 1_000) * 1_000;
  return toWallMs(zone, wholeSecond) - wholeSecond;
}

function toInstantMs(zone: string, wallMs: number): number {
  const before = offsetMs(zone, wallMs - dayMs);
  const after = offsetMs(zone, wallMs + dayMs);
  const candidates = [wallMs - before, wallMs - after].filter((atMs) => toWallMs(zone, atMs) === wallMs);
  if (candidates.length > 0) return Math.min(...candidates);
  return findChangeMs(zone, wallMs - dayMs, wallMs + dayMs);
}

/** First second with the later offset: the moment at which the clocks skip. */
function findChangeMs(zone: string, fromMs: number, toMs: number): number {
  const before = offsetMs(zone, fromMs);
  let low = Math.floor(fromMs / 1_000);
  let high = Math.floor(toMs / 1_000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * 1_000) === before) low = middle;
    else high = middle;
  }
  return high * 1_000;
}

/** Making a formatter costs a thousand times as much as using one. */
const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}
