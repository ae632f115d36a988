/** Every scalar in a value with its place; a list's elements by their position. */
export function leavesOf(value: unknown, path = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const walk = (here: unknown, at: string) => {
    if (here === null || typeof here !== 'object') leaves.set(at, here);
    else for (const [key, inner] of Object.entries(here)) walk(inner, at === '' ? key : `${at}.${key}`);
  };
  walk(value, path);
  return leaves;
}

/** Scalars of one value that are there and are not what stands at the same place of the other. */
export function changedLeaves(of: unknown, against: unknown): [string, unknown][] {
  const other = leavesOf(against);
  return [...leavesOf(of)].filter(([path, leaf]) => leaf !== null && leaf !== undefined && other.get(path) !== leaf);
}

export function numbersIn(value: unknown): Set<unknown> {
  return new Set([...leavesOf(value).values()].filter((leaf) => typeof leaf === 'number' || typeof leaf === 'bigint'));
}
