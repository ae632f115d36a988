import { type AST, parseTOML } from 'toml-eslint-parser';

export type KeyValue = AST.TOMLKeyValue;

/** A `[header]` with its keys, or the keys before the first header (`header` null, empty path). */
export interface TomlTable {
  /** Array tables have a number among the names, so that they equal no path of an edit. */
  path: (string | number)[];
  header: AST.TOMLTable | null;
  keys: KeyValue[];
}

/** The tables in the order of the file, the top level first. */
export function tablesOf(text: string): TomlTable[] {
  const [top] = parseTOML(text, { tomlVersion: '1.0' }).body;
  const tables: TomlTable[] = [{ path: [], header: null, keys: [] }];
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') tables[0]?.keys.push(node);
    else tables.push({ path: node.resolvedKey, header: node, keys: node.body });
  }
  return tables;
}

/** The names of a key, dotted parts apart. */
export function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
}

export function fullPath(table: TomlTable, entry: KeyValue): (string | number)[] {
  return [...table.path, ...namesOf(entry.key)];
}

export function startsWith(path: readonly (string | number)[], prefix: readonly (string | number)[]): boolean {
  return prefix.length <= path.length && prefix.every((name, index) => name === path[index]);
}

export function samePath(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

export function commonLength(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

/** End of what the table itself holds: its last key, or its header. */
export function endOfTable(table: TomlTable): number {
  return table.keys.at(-1)?.range[1] ?? table.header?.range[1] ?? 0;
}

/** The array or inline table or scalar written for a path, wherever it is written. */
export function findValue(text: string, path: readonly string[]): AST.TOMLContentNode | undefined {
  for (const table of tablesOf(text)) {
    for (const entry of table.keys) {
      const found = findIn(entry, fullPath(table, entry), path);
      if (found) return found;
    }
  }
  return undefined;
}

function findIn(entry: KeyValue, full: (string | number)[], path: readonly string[]): AST.TOMLContentNode | undefined {
  if (samePath(full, path)) return entry.value;
  if (!startsWith(path, full) || entry.value.type !== 'TOMLInlineTable') return undefined;
  for (const inner of entry.value.body) {
    const found = findIn(inner, [...full, ...namesOf(inner.key)], path);
    if (found) return found;
  }
  return undefined;
}
