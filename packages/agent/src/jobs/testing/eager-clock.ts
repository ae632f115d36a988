import type { Clock } from '@gpufleet/shared/core';

export interface EagerClock extends Clock {
  /** Somebody sets the wall clock; what has passed stays. */
  jump(byMs: number): void;
}

/** Time that does not wait: whenever nothing else is to be done, it jumps to the next timer. */
export function createEagerClock(startMs = Date.UTC(2026, 5, 1, 12)): EagerClock {
  let passedMs = 0;
  let setByMs = 0;
  let timers: { atMs: number; action: () => void }[] = [];
  let scheduled = false;

  function schedule(): void {
    if (scheduled || timers.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const next = timers.sort((a, b) => a.atMs - b.atMs).shift();
      if (!next) return;
      passedMs = Math.max(passedMs, next.atMs);
      next.action();
      schedule();
    });
  }

  function after(delayMs: number, action: () => void): () => void {
    const timer = { atMs: passedMs + delayMs, action };
    timers.push(timer);
    schedule();
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  }

  return {
    nowMs: () => startMs + passedMs + setByMs,
    jump(byMs) {
      setByMs += byMs;
    },
    monotonicMs: () => passedMs,
    after,
    every(periodMs, action) {
      let cancel = after(periodMs, function again() {
        void action();
        cancel = after(periodMs, again);
      });
      return () => cancel();
    },
  };
}
