import { TomlDate } from 'smol-toml';
import type { KeyEdit } from '../jobs/step.ts';

/** A parsed config: JSON, or TOML with integers as bigint and dates as objects of the parser. */
export type Value = unknown;
export type Table = { [key: string]: Value };

/** A change small enough for one edit of the text. */
export type Leaf =
  | { do: 'set'; path: string[]; value: Value }
  | { do: 'table'; path: string[] }
  | { do: 'append'; path: string[]; value: Value }
  | { do: 'remove'; path: string[] };

/** The file's shape and the edit do not fit: a key that should be a table is a scalar, a list is a string. */
export class EditConflict extends Error {
  override readonly name = 'EditConflict';
}

export function isTable(value: Value): value is Table {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);
}

/** undefined where the path leads nowhere. Only own keys count, so `constructor` is a key like any other. */
export function valueAt(root: Value, path: readonly string[]): Value {
  let value = root;
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/**
 * The leaves that bring `root` to what `edit` asks, none when it is there already. With `wholeTables` a missing table
 * is one leaf (JSON); without, each of its keys is one, scalars before tables (TOML headers).
 */
export function leavesOf(root: Value, edit: KeyEdit, from: (value: Value) => Value, wholeTables: boolean): Leaf[] {
  if (edit.op === 'remove') return valueAt(root, edit.path) === undefined ? [] : [{ do: 'remove', path: edit.path }];
  if (edit.op === 'copy') {
    const source = valueAt(root, edit.from);
    if (source === undefined || valueAt(root, edit.path) !== undefined) return [];
    return leavesToSet(undefined, edit.path, source, wholeTables);
  }
  const existing = valueAt(root, edit.path);
  const value = from(edit.value);
  if (edit.op === 'set') return leavesToSet(existing, edit.path, value, wholeTables);
  if (existing === undefined) return [{ do: 'set', path: edit.path, value: [value] }];
  if (!Array.isArray(existing)) throw new EditConflict(`${edit.path.join('.')} is not a list`);
  return existing.some((item) => sameValue(item, value)) ? [] : [{ do: 'append', path: edit.path, value }];
}

function leavesToSet(existing: Value, path: string[], value: Value, wholeTables: boolean): Leaf[] {
  if (sameValue(existing, value)) return [];
  if (!isTable(value)) {
    const set: Leaf = { do: 'set', path, value };
    return isTable(existing) ? [{ do: 'remove', path }, set] : [set];
  }
  if (!isTable(existing) && wholeTables) return [{ do: 'set', path, value }];
  const before: Leaf[] = existing !== undefined && !isTable(existing) ? [{ do: 'remove', path }] : [];
  const old = isTable(existing) ? existing : {};
  const gone = Object.keys(old).filter((key) => !Object.hasOwn(value, key));
  const removals = gone.map((key): Leaf => ({ do: 'remove', path: [...path, key] }));
  const entries = Object.entries(value).sort(([, a], [, b]) => Number(isTable(a)) - Number(isTable(b)));
  const sets = entries.flatMap(([key, member]) =>
    leavesToSet(Object.hasOwn(old, key) ? old[key] : undefined, [...path, key], member, wholeTables),
  );
  const made: Leaf[] = entries.length === 0 ? [{ do: 'table', path }] : [];
  return [...before, ...removals, ...made, ...sets];
}

/** `root` as it must read after the leaf; the input is left alone. Throws `EditConflict`. */
export function withLeaf(root: Value, leaf: Leaf, depth = 0): Value {
  const key = leaf.path[depth];
  if (key === undefined) throw new EditConflict('an edit needs a path');
  if (root !== undefined && !isTable(root))
    throw new EditConflict(`${leaf.path.slice(0, depth).join('.')} is no table`);
  const table: Table = { ...root };
  const put = (value: Value): Table => {
    Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true });
    return table;
  };
  const existing = root !== undefined && Object.hasOwn(root, key) ? root[key] : undefined;
  if (depth < leaf.path.length - 1) return put(withLeaf(existing, leaf, depth + 1));
  if (leaf.do === 'set') return put(leaf.value);
  if (leaf.do === 'table') return put(existing ?? {});
  if (leaf.do === 'append') return put([...(Array.isArray(existing) ? existing : []), leaf.value]);
  delete table[key];
  return table;
}

/** Deep equality of parsed values. A bigint and a number are different: `1` and `1.0` are different TOML. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (a instanceof TomlDate && b instanceof TomlDate) return a.toISOString() === b.toISOString();
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  if (!isTable(a) || !isTable(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}
