/** The only source of time and of timers in a process: tests and the simulation bring their own. */
export interface Clock {
  nowMs(): number;
  /** Monotonic milliseconds: for leases and durations. */
  monotonicMs(): number;
  /** Runs `action` once after `delayMs`; the returned function cancels it. The timer never keeps the process alive. */
  after(delayMs: number, action: () => void): () => void;
  /** Runs `action` every `periodMs` until cancelled; the next run waits for a running one. */
  every(periodMs: number, action: () => Promise<void> | void): () => void;
}
