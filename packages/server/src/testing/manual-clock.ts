import type { Clock } from '@gpufleet/shared/core';

interface Timer {
  atMs: number;
  periodMs: number | undefined;
  action(): Promise<void> | void;
  isRunning: boolean;
}

/** Time passes only when a test says so; timers that fall due run in order. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_800_000_000_000) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, action: () => void): () => void {
    return this.#add({ atMs: this.#elapsedMs + delayMs, periodMs: undefined, action, isRunning: false });
  }

  every(periodMs: number, action: () => Promise<void> | void): () => void {
    return this.#add({ atMs: this.#elapsedMs + periodMs, periodMs, action, isRunning: false });
  }

  /** Actions are begun, not awaited: wait for what they do. */
  advance(byMs: number): void {
    const untilMs = this.#elapsedMs + byMs;
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      this.#elapsedMs = next.atMs;
      if (next.periodMs === undefined) this.#timers.delete(next);
      else next.atMs += next.periodMs;
      this.#run(next);
    }
    this.#elapsedMs = untilMs;
  }

  /** A periodic action waits for its running one. What fails shows as an unhandled rejection, and the test with it. */
  #run(timer: Timer): void {
    if (timer.isRunning) return;
    const running = timer.action();
    if (!(running instanceof Promise)) return;
    timer.isRunning = true;
    void running.finally(() => {
      timer.isRunning = false;
    });
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}
