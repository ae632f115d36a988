/** The numbers at the start of a version: `v1.7.24-k3s1` → [1, 7, 24]. null when there are none. */
export function versionParts(version: string | null): number[] | null {
  const match = /^v?(\d+(?:\.\d+)*)/.exec(version ?? '');
  return match?.[1] === undefined ? null : match[1].split('.').map(Number);
}

/** An unknown version is not older than anything. */
export function isOlderThan(version: string | null, limit: readonly number[]): boolean {
  const parts = versionParts(version);
  return parts !== null && compareParts(parts.slice(0, limit.length), limit) < 0;
}

/** Negative, zero or positive, by the numbers of two versions; what has none comes before all. */
export function compareVersions(a: string, b: string): number {
  return compareParts(versionParts(a) ?? [], versionParts(b) ?? []);
}

function compareParts(left: readonly number[], right: readonly number[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
