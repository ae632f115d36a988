import type { JournalEntry, Stamp } from './journal.ts';

/**
 * Monotonic time from the grant to `now`: uptime that passed within each boot. How long the host was off between two
 * boots cannot be known by a clock that may be wrong, so that time does not count.
 */
export function elapsedMs(entries: readonly JournalEntry[], now: Stamp): number {
  const first = entries[0];
  if (!first) return 0;
  let total = 0;
  let last = first.at;
  for (const at of [...entries.slice(1).map((entry) => entry.at), now]) {
    total += at.bootId === last.bootId ? Math.max(0, at.uptimeMs - last.uptimeMs) : Math.max(0, at.uptimeMs);
    last = at;
  }
  return total;
}
