import type { FactDifferences } from '@gpufleet/shared/api';
import type { Json } from '@gpufleet/shared/core';
import type { ValueChange } from './diff-facts.ts';

type Difference = FactDifferences['differences'][number];

/** What one report of a fact changed. */
export interface FactReport {
  atMs: number;
  name: string;
  changes: readonly ValueChange[];
}

/**
 * What is different after these reports (oldest first), by fact and path: what went there and back is left out. A value
 * inside one that came or went as a whole is told with the whole.
 */
export function foldChanges(reports: readonly FactReport[]): Difference[] {
  const byPath = new Map<string, Difference>();
  for (const { atMs, name, changes } of reports)
    for (const { path, before, after } of changes) {
      const key = `${name}\n${path}`;
      const known = byPath.get(key);
      if (known) Object.assign(known, { after, changes: known.changes + 1, lastAtMs: atMs });
      else byPath.set(key, { name, path, before, after, changes: 1, firstAtMs: atMs, lastAtMs: atMs });
    }
  const wholes = [...byPath.values()];
  return wholes
    .filter((difference) => !isSame(difference.before, difference.after))
    .filter((difference) => !wholes.some((whole) => holds(whole, difference)))
    .sort((a, b) => compare(a.name, b.name) || compare(a.path, b.path));
}

/** The part changed only while the whole was new or gone: the whole says it. */
function holds(whole: Difference, part: Difference): boolean {
  const isInside = whole.name === part.name && part.path.startsWith(`${whole.path}.`);
  return isInside && (whole.before === null ? part.firstAtMs >= whole.firstAtMs : whole.after === null);
}

function isSame(a: Json | null, b: Json | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
