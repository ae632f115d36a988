import type { Machine } from './machine.ts';

/** What package managers remember of a machine beside what is installed on it. */
export interface PackageState {
  /** Where dpkg's record differs from what the machine itself shows: versions, states, and packages that are gone (null). */
  record: Map<string, { version: string; status: string } | null>;
  held: Set<string>;
  /** Files of repositories whose lists were fetched. */
  fetched: Set<string>;
  /** Who holds dpkg's lock, until when on the monotonic clock. */
  lock: { pid: number; name: string; untilMs: number } | null;
  /** The next run of dpkg is killed after it has unpacked, before it configures. */
  isKilledHalfWay: boolean;
  /** Versions that are gone from the repositories. */
  dropped: Set<string>;
}

export function createPackageState(): PackageState {
  return {
    record: new Map(),
    held: new Set(),
    fetched: new Set(),
    lock: null,
    isKilledHalfWay: false,
    dropped: new Set(),
  };
}

/** The text that apt and dpkg say while somebody else holds the lock; null: nobody does. */
export function lockedBy({ packages, clock }: Machine): { pid: number; name: string } | null {
  const { lock } = packages;
  return lock !== null && clock.monotonicMs() < lock.untilMs ? lock : null;
}
