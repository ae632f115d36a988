/** Safe access into parsed JSON, TOML, YAML and XML: own properties only, and a wrong type is `undefined`. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  if (value === null || typeof value !== 'object') return false;
  // TOML's dates are objects of a class of their own.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const key of path) {
    if (!isTree(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

export function treeAt(value: unknown, ...path: string[]): Tree | undefined {
  const found = at(value, ...path);
  return isTree(found) ? found : undefined;
}

export function stringAt(value: unknown, ...path: string[]): string | null {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : null;
}

/** Empty text counts as not stated. */
export function textAt(value: unknown, ...path: string[]): string | null {
  return stringAt(value, ...path) || null;
}

export function booleanAt(value: unknown, ...path: string[]): boolean | null {
  const found = at(value, ...path);
  return typeof found === 'boolean' ? found : null;
}

export function integerAt(value: unknown, ...path: string[]): number | null {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : null;
}

export function stringsAt(value: unknown, ...path: string[]): string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((item): item is string => typeof item === 'string') : [];
}

export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Entries of a mapping that are texts. */
export function textsAt(value: unknown, ...path: string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(treeAt(value, ...path) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}
