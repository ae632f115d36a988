import type { Clock } from '@gpufleet/shared/core';

/**
 * The server's time, kept on the monotonic clock from what the server last told: a host whose own clock says 1970 judges
 * expiry as well as any other.
 */
export interface ServerTime {
  learn(serverNowMs: number): void;
  /** undefined until a server has told its time in this process. */
  nowMs(): number | undefined;
}

export function createServerTime(clock: Clock): ServerTime {
  let offsetMs: number | undefined;
  return {
    learn(serverNowMs) {
      offsetMs = serverNowMs - clock.monotonicMs();
    },
    nowMs: () => (offsetMs === undefined ? undefined : clock.monotonicMs() + offsetMs),
  };
}
