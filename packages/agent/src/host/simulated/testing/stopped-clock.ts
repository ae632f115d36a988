import type { Clock } from '@gpufleet/shared/core';

export const noon = Date.UTC(2026, 5, 1, 12);

/** Time stands still until it is moved; timers run when it has passed them. */
export function createStoppedClock(startMs = noon): Clock & { advance(ms: number): void } {
  let passedMs = 0;
  let timers: { atMs: number; action: () => void }[] = [];
  const after = (delayMs: number, action: () => void) => {
    const timer = { atMs: passedMs + delayMs, action };
    timers.push(timer);
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  };
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    after,
    every(periodMs, action) {
      let cancel = after(periodMs, function again() {
        void action();
        cancel = after(periodMs, again);
      });
      return () => cancel();
    },
    advance(ms) {
      const untilMs = passedMs + ms;
      for (;;) {
        const due = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (!due) break;
        timers = timers.filter((one) => one !== due);
        passedMs = due.atMs;
        due.action();
      }
      passedMs = untilMs;
    },
  };
}
