import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Window } from './spec.ts';
import { activeFreeze, isTimeZone, windowStatus } from './window.ts';

const at = (iso: string) => Date.parse(iso);
const iso = (ms: number) => new Date(ms).toISOString();
const aWindow = (fields: object) => Window.parse({ from: '01:00', to: '05:00', ...fields });

function show(window: Window, zone: string, now: string): string {
  const status = windowStatus(window, zone, at(now));
  return status.open ? `closes ${iso(status.closesAtMs)}` : `opens ${iso(status.opensAtMs)}`;
}

test.each([
  ['2026-06-10T01:00:00Z', 'Etc/UTC', {}, 'closes 2026-06-10T05:00:00.000Z'],
  ['2026-06-10T05:00:00Z', 'Etc/UTC', {}, 'opens 2026-06-11T01:00:00.000Z'],
  ['2026-06-10T00:59:59Z', 'Etc/UTC', {}, 'opens 2026-06-10T01:00:00.000Z'],
  ['2026-06-09T23:30:00Z', 'Europe/Berlin', {}, 'closes 2026-06-10T03:00:00.000Z'],
  ['2026-06-09T23:30:00Z', 'Europe/Berlin', { zone: 'Asia/Tokyo' }, 'opens 2026-06-10T16:00:00.000Z'],
  ['2026-06-10T12:00:00Z', 'Asia/Kathmandu', {}, 'opens 2026-06-10T19:15:00.000Z'],
])('at %s in %s a window %j %s', (now, zone, fields, expected) => {
  expect(show(aWindow(fields), zone, now)).toBe(expected);
});

test('a window over midnight belongs to the day on which it opens', () => {
  const window = aWindow({ from: '22:00', to: '02:00', days: ['fri'] });
  expect(show(window, 'Etc/UTC', '2026-06-13T01:00:00Z')).toBe('closes 2026-06-13T02:00:00.000Z');
  expect(show(window, 'Etc/UTC', '2026-06-12T01:00:00Z')).toBe('opens 2026-06-12T22:00:00.000Z');
});

test('when the clocks skip the opening, the window opens at the skip', () => {
  const window = aWindow({ from: '02:30', to: '04:00' });
  expect(show(window, 'Europe/Berlin', '2026-03-29T00:30:00Z')).toBe('opens 2026-03-29T01:00:00.000Z');
  expect(show(window, 'Europe/Berlin', '2026-03-29T01:00:00Z')).toBe('closes 2026-03-29T02:00:00.000Z');
});

test('when the clocks repeat an hour, edges are at its first run', () => {
  const window = aWindow({ from: '01:00', to: '02:30' });
  expect(show(window, 'Europe/Berlin', '2026-10-25T00:00:00Z')).toBe('closes 2026-10-25T00:30:00.000Z');
  expect(show(window, 'Europe/Berlin', '2026-10-25T01:15:00Z')).toBe('opens 2026-10-26T00:00:00.000Z');
});

test('a window that the clocks skip whole is not open on that day', () => {
  const window = aWindow({ from: '02:10', to: '02:50' });
  expect(show(window, 'Europe/Berlin', '2026-03-29T00:00:00Z')).toBe('opens 2026-03-30T00:10:00.000Z');
});

test('whole days that touch are one window', () => {
  const window = aWindow({ from: '00:00', to: '00:00', days: ['mon', 'tue'] });
  expect(show(window, 'Etc/UTC', '2026-06-08T12:00:00Z')).toBe('closes 2026-06-10T00:00:00.000Z');
});

test('a freeze holds from its first moment to before its last, and the longest is named', () => {
  const freezes = [
    { fromMs: 10, toMs: 20, reason: 'a' },
    { fromMs: 10, toMs: 30, reason: 'b' },
  ];
  expect(activeFreeze(freezes, 9)).toBeUndefined();
  expect(activeFreeze(freezes, 10)?.reason).toBe('b');
  expect(activeFreeze(freezes, 30)).toBeUndefined();
});

test('knows a time zone from any other word', () => {
  expect(['Europe/Berlin', 'Etc/UTC', 'site', 'Mars/Base'].map(isTimeZone)).toEqual([true, true, false, false]);
});

test('what is said to open later is open then, and what is said to close is closed then', () => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Sao_Paulo'];
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: at('2025-01-01'), max: at('2028-01-01') }),
      fc.integer({ min: 0, max: 1439 }),
      fc.integer({ min: 0, max: 1439 }),
      fc.subarray(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], { minLength: 1 }),
      (zone, nowMs, from, to, days) => {
        const time = (m: number) => `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`;
        const window = Window.parse({ from: time(from), to: time(to), days });
        const status = windowStatus(window, zone, nowMs);
        if (status.open) {
          expect(status.closesAtMs).toBeGreaterThan(nowMs);
          if (days.length < 7) expect(windowStatus(window, zone, status.closesAtMs).open).toBe(false);
        } else {
          expect(windowStatus(window, zone, status.opensAtMs)).toMatchObject({ open: true });
          expect(windowStatus(window, zone, status.opensAtMs - 1).open).toBe(false);
        }
      },
    ),
    { numRuns: 200 },
  );
});
