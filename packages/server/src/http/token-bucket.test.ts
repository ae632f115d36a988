import { expect, test } from 'vitest';
import { createTokenBuckets } from './token-bucket.ts';

test('a party waits after its burst and may try again when a token came back', () => {
  const buckets = createTokenBuckets({ burst: 2, refillEveryMs: 1_000, maxParties: 10 });
  buckets.take('a', 0);
  expect(buckets.waitMs('a', 0)).toBe(0);
  buckets.take('a', 0);
  expect(buckets.waitMs('a', 0)).toBe(1_000);
  expect(buckets.waitMs('a', 600)).toBe(400);
  expect(buckets.waitMs('a', 1_000)).toBe(0);
});

test('one party’s tries do not count for another', () => {
  const buckets = createTokenBuckets({ burst: 1, refillEveryMs: 1_000, maxParties: 10 });
  buckets.take('a', 0);
  expect(buckets.waitMs('b', 0)).toBe(0);
});

test('no more parties are remembered than the limit', () => {
  const buckets = createTokenBuckets({ burst: 1, refillEveryMs: 1_000, maxParties: 2 });
  for (const party of ['a', 'b', 'c']) buckets.take(party, 0);
  expect(buckets.waitMs('a', 0)).toBe(0);
  expect(buckets.waitMs('c', 0)).toBe(1_000);
});
