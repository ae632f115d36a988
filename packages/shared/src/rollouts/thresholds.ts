/** A share of a group with a cap: whichever is smaller counts. */
export interface Threshold {
  percent: number;
  max: number;
}

/** T: failures that a wave of `counted` slots tolerates. Rounded down, so a few slots tolerate none. */
export function toleratedFailures(counted: number, failure: Threshold): number {
  return Math.min(shareOf(counted, failure.percent), failure.max);
}

/** B: hosts of a site that may be out at once: at least one, and never the last one of two or more. */
export function siteBudget(size: number, budget: Threshold): number {
  const wanted = Math.max(1, Math.min(shareOf(size, budget.percent), budget.max));
  return size >= 2 ? Math.min(wanted, size - 1) : wanted;
}

/** Servers of one Kubernetes cluster that may be out at once so that embedded etcd keeps its quorum. 0: not even one. */
export function clusterBudget(servers: number): number {
  return Math.max(0, Math.floor((servers - 1) / 2));
}

/** ⌊percent of size⌋. The tiny addition keeps 1.15 % of 2000 at 23 where floating point says 22.999…. */
export function shareOf(size: number, percent: number): number {
  return Math.floor((size * percent) / 100 + 1e-9);
}
