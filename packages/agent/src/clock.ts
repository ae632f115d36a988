import type { Clock } from '@gpufleet/shared/core';

// Node runs a timer at once when its delay is above this (24.8 days).
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of a real process. */
export function createSystemClock(): Clock {
  return { nowMs: () => Date.now(), monotonicMs: () => performance.now(), after, every };
}

function after(delayMs: number, action: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const step = Math.min(leftMs, LONGEST_TIMER_MS);
    timer = setTimeout(() => (step < leftMs ? wait(leftMs - step) : action()), step);
    timer.unref();
  };
  wait(Math.max(0, delayMs));
  return () => clearTimeout(timer);
}

function every(periodMs: number, action: () => Promise<void> | void): () => void {
  let cancelled = false;
  let cancelTimer: () => void;
  const run = async (): Promise<void> => {
    const startedAtMs = performance.now();
    try {
      await action();
    } finally {
      // A failing action is a bug and ends the process; until then the rhythm stays.
      if (!cancelled) schedule(periodMs - (performance.now() - startedAtMs));
    }
  };
  const schedule = (delayMs: number): void => {
    cancelTimer = after(delayMs, () => void run());
  };
  schedule(periodMs);
  return () => {
    cancelled = true;
    cancelTimer();
  };
}
