/** The numbers at the start of a version: `v1.7.24-k3s1` → [1, 7, 24]. null when there are none. */
export function versionParts(version: string | null): number[] | null {
  const match = /^v?(\d+(?:\.\d+)*)/.exec(version ?? '');
  return match?.[1] === undefined ? null : match[1].split('.').map(Number);
}

/** An unknown version is not older than anything. */
export function isOlderThan(version: string | null, limit: readonly number[]): boolean {
  const parts = versionParts(version);
  if (parts === null) return false;
  for (let index = 0; index < limit.length; index++) {
    const difference = (parts[index] ?? 0) - (limit[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
