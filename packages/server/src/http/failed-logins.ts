import { type Clock, FleetError } from '@gpufleet/shared/core';
import { createTokenBuckets } from './token-bucket.ts';

export interface FailedLogins {
  /** Throws `too_many_failed_logins` for an address that failed too often. */
  check(address: string): void;
  add(address: string): void;
}

export function createFailedLogins(clock: Clock): FailedLogins {
  const buckets = createTokenBuckets({ burst: 20, refillEveryMs: 3_000, maxParties: 10_000 });
  return {
    check(address) {
      const retryAfterMs = buckets.waitMs(address, clock.monotonicMs());
      if (retryAfterMs > 0)
        throw new FleetError(
          'too_many_failed_logins',
          'too many wrong tokens from this address: wait, then try again',
          {
            retryAfterMs,
          },
        );
    },
    add: (address) => buckets.take(address, clock.monotonicMs()),
  };
}
