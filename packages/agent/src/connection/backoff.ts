export interface BackoffLimits {
  minBackoffMs: number;
  maxBackoffMs: number;
}

/**
 * How long to wait after `failures` attempts in a row that failed: full jitter, so that a fleet that lost its server at
 * one moment does not come back at one moment. `random` is in [0, 1).
 */
export function deriveBackoffMs(failures: number, random: number, limits: BackoffLimits): number {
  // 2^30 is beyond every cap; without it a host that is alone for months would overflow to Infinity.
  const ceiling = Math.min(limits.maxBackoffMs, limits.minBackoffMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30));
  return Math.round(random * ceiling);
}

/** A wait that the server asked for, plus jitter of the same order: never earlier than it said. */
export function deriveAskedWaitMs(retryAfterMs: number, random: number, limits: BackoffLimits): number {
  const asked = Math.min(Math.max(retryAfterMs, 0), maxAskedWaitMs);
  return Math.round(asked + random * Math.max(limits.minBackoffMs, asked));
}

// A broken server must not be able to send a host away for ever.
const maxAskedWaitMs = 60 * 60_000;
