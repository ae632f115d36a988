/** Counts tries of many parties, each with a bucket that refills; remembers at most `maxParties`, newest tries win. */
export interface TokenBuckets {
  /** How long the party must wait; 0 when it may try. Takes nothing. */
  waitMs(party: string, nowMs: number): number;
  take(party: string, nowMs: number): void;
}

export function createTokenBuckets(limits: { burst: number; refillEveryMs: number; maxParties: number }): TokenBuckets {
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function tokensOf(party: string, nowMs: number): number {
    const bucket = buckets.get(party);
    if (!bucket) return limits.burst;
    return Math.min(limits.burst, bucket.tokens + (nowMs - bucket.atMs) / limits.refillEveryMs);
  }

  return {
    waitMs(party, nowMs) {
      const tokens = tokensOf(party, nowMs);
      return tokens >= 1 ? 0 : Math.ceil((1 - tokens) * limits.refillEveryMs);
    },
    take(party, nowMs) {
      const tokens = Math.max(0, tokensOf(party, nowMs) - 1);
      // Re-inserted last: the map's order is by latest try, so the first is the one to forget.
      buckets.delete(party);
      buckets.set(party, { tokens, atMs: nowMs });
      const oldest = buckets.keys().next().value;
      if (buckets.size > limits.maxParties && oldest !== undefined) buckets.delete(oldest);
    },
  };
}
