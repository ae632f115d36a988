import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clusterBudget, shareOf, siteBudget, toleratedFailures } from './thresholds.ts';

test.each([
  [9, 10, 3, 0],
  [10, 10, 3, 1],
  [19, 10, 3, 1],
  [50, 10, 3, 3],
  [50, 0, 3, 0],
  [50, 100, 3, 3],
  [0, 100, 3, 0],
  [50, 10, 0, 0],
])('%d slots at %d %% and at most %d tolerate %d failures', (counted, percent, max, tolerated) => {
  expect(toleratedFailures(counted, { percent, max })).toBe(tolerated);
});

test.each([
  [5, 25, 5, 1],
  [8, 25, 5, 2],
  [1, 25, 5, 1],
  [2, 100, 5, 1],
  [3, 100, 5, 2],
  [100, 25, 5, 5],
  [6, 0, 5, 1],
])('a site of %d at %d %% and at most %d may have %d out', (size, percent, max, budget) => {
  expect(siteBudget(size, { percent, max })).toBe(budget);
});

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [4, 1],
  [5, 2],
  [7, 3],
])('of %d etcd servers %d may be out', (servers, out) => {
  expect(clusterBudget(servers)).toBe(out);
});

test('a site of two or more never has all its hosts out, and no share is rounded up', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 1, max: 500 }),
      (size, percent, max) => {
        const budget = siteBudget(size, { percent, max });
        expect(budget).toBeGreaterThanOrEqual(1);
        if (size >= 2) expect(budget).toBeLessThan(size);
        expect(budget).toBeLessThanOrEqual(Math.max(1, Math.min(max, shareOf(size, percent))));
        expect(shareOf(size, percent) * 100).toBeLessThanOrEqual(size * percent);
      },
    ),
  );
});
