import type { Clock } from '@gpufleet/shared/core';

/** The machine's clocks and timers: the only place of the server that uses them. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(periodMs, action) {
    let isRunning = false;
    const timer = setInterval(async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        await action();
      } finally {
        isRunning = false;
      }
    }, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};
