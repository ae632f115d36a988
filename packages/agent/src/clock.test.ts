import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSystemClock } from './clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('runs an action once after its delay', () => {
  const ran: number[] = [];
  const clock = createSystemClock();
  const startMs = clock.nowMs();
  clock.after(500, () => ran.push(clock.nowMs() - startMs));
  vi.advanceTimersByTime(5_000);
  expect(ran).toEqual([500]);
});

test('does not run a cancelled action', () => {
  let runs = 0;
  const cancel = createSystemClock().after(500, () => {
    runs += 1;
  });
  cancel();
  vi.advanceTimersByTime(5_000);
  expect(runs).toBe(0);
});

test('waits out a delay that is longer than one timer can hold', () => {
  let runs = 0;
  const days = 24 * 3_600_000;
  createSystemClock().after(60 * days, () => {
    runs += 1;
  });
  vi.advanceTimersByTime(59 * days);
  expect(runs).toBe(0);
  vi.advanceTimersByTime(days);
  expect(runs).toBe(1);
});

test('repeats with the period, and lets a running action finish before the next', async () => {
  const starts: number[] = [];
  const clock = createSystemClock();
  const zero = clock.monotonicMs();
  const cancel = clock.every(100, async () => {
    starts.push(Math.round(clock.monotonicMs() - zero));
    if (starts.length === 2) await new Promise<void>((resolve) => clock.after(250, resolve));
  });
  await vi.advanceTimersByTimeAsync(600);
  cancel();
  await vi.advanceTimersByTimeAsync(1_000);
  // The overdue run comes at once, which is a millisecond for a timer.
  expect(starts).toEqual([100, 200, 451, 551]);
});

test('does not start again when it is cancelled while the action runs', async () => {
  let runs = 0;
  const clock = createSystemClock();
  const cancel = clock.every(100, async () => {
    runs += 1;
    await new Promise<void>((resolve) => clock.after(50, resolve));
  });
  await vi.advanceTimersByTimeAsync(120);
  cancel();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(1);
});

test('a pending timer does not keep the process alive', () => {
  vi.useRealTimers();
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const cancel = createSystemClock().after(60_000, () => undefined);
  // Only timers that hold the process are listed.
  const holding = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  cancel();
  expect(holding).toBe(before);
});
