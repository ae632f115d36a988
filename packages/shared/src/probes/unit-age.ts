import type { UnitState } from './fact.ts';

/**
 * Something was written after the unit started. Unknown times count as not newer, and so does the second of the start
 * itself: systemd tells it in whole seconds, and a file of the same second may be older or newer.
 */
export function isNewerThanStart(mtimeMs: number | null, unit: UnitState | null): boolean {
  return mtimeMs !== null && unit?.startedAtMs != null && mtimeMs >= unit.startedAtMs + 1_000;
}

/** Surely written before the unit started. */
export function isOlderThanStart(mtimeMs: number | null, unit: UnitState | null): boolean {
  return mtimeMs !== null && unit?.startedAtMs != null && mtimeMs < unit.startedAtMs;
}
