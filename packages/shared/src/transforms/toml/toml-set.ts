import type { AST } from 'toml-eslint-parser';
import { EditConflict } from '../edit-value.ts';
import { eolOf, indentAt, insertLineAfter, lineStart } from '../edited.ts';
import { insertHeader, keyIndentOf } from './toml-layout.ts';
import { pathText } from './toml-text.ts';
import {
  endOfTable,
  findValue,
  fullPath,
  namesOf,
  samePath,
  startsWith,
  type TomlTable,
  tablesOf,
} from './toml-tree.ts';

/** `path = literal`: in place where it is, else in its table, else in a new table. Throws `EditConflict`. */
export function setKey(text: string, path: string[], literal: string): string {
  const tables = tablesOf(text);
  for (const table of tables) {
    for (const entry of table.keys) {
      const full = fullPath(table, entry);
      if (samePath(full, path)) return replaceRange(text, entry.value.range, literal);
      if (!startsWith(path, full)) continue;
      if (entry.value.type !== 'TOMLInlineTable')
        throw new EditConflict(`${pathText(path.slice(0, full.length))} is no table`);
      return setInInlineTable(text, entry.value, path.slice(full.length), literal);
    }
  }
  const parent = path.slice(0, -1);
  const home = tables.find((table) => samePath(table.path, parent) && table.header?.kind !== 'array');
  if (home && (home.header || parent.length === 0))
    return home.header ? addToTable(text, tables, home, path, literal) : addToTopLevel(text, tables, path, literal);
  const sibling = lastDottedSibling(tables, parent);
  if (sibling) {
    const indent = indentAt(text, sibling.entry.range[0]);
    const name = pathText(path.slice(sibling.table.path.length));
    return insertLineAfter(text, sibling.entry.range[1], `${indent}${name} = ${literal}`, eolOf(text));
  }
  return insertHeader(text, tables, parent, `${pathText(path.slice(-1))} = ${literal}`);
}

/** `[path]` with nothing in it, unless something gives it already. */
export function addTable(text: string, path: string[]): string {
  if (findValue(text, path)) return text;
  const inline = path.some((_, length) => findValue(text, path.slice(0, length))?.type === 'TOMLInlineTable');
  if (inline) return setKey(text, path, '{}');
  const tables = tablesOf(text);
  return tables.some((table) => samePath(table.path, path)) ? text : insertHeader(text, tables, path, null);
}

/** Dotted keys own the tables they make: TOML forbids a header for those. */
function lastDottedSibling(tables: TomlTable[], parent: string[]) {
  const found = tables.flatMap((table) =>
    table.path.length >= parent.length
      ? []
      : table.keys
          .filter((entry) => startsWith(fullPath(table, entry).slice(0, -1), parent))
          .map((entry) => ({ table, entry })),
  );
  return found.at(-1);
}

function addToTable(text: string, tables: TomlTable[], table: TomlTable, path: string[], literal: string): string {
  const indent = keyIndentOf(text, tables, table);
  return insertLineAfter(text, endOfTable(table), `${indent}${pathText(path.slice(-1))} = ${literal}`, eolOf(text));
}

function addToTopLevel(text: string, tables: TomlTable[], path: string[], literal: string): string {
  const eol = eolOf(text);
  const line = `${pathText(path)} = ${literal}`;
  const last = tables[0]?.keys.at(-1);
  if (last) return insertLineAfter(text, last.range[1], indentAt(text, last.range[0]) + line, eol);
  const first = tables[1]?.header;
  if (!first) return text === '' || text.endsWith('\n') ? text + line + eol : text + eol + line;
  // Comments that touch the first header are about that header.
  let at = lineStart(text, first.range[0]);
  while (
    at > 0 &&
    text
      .slice(lineStart(text, at - 1), at)
      .trimStart()
      .startsWith('#')
  )
    at = lineStart(text, at - 1);
  return `${text.slice(0, at)}${line}${eol}${eol}${text.slice(at)}`;
}

function setInInlineTable(text: string, table: AST.TOMLInlineTable, path: string[], literal: string): string {
  for (const entry of table.body) {
    const names = namesOf(entry.key);
    if (samePath(names, path)) return replaceRange(text, entry.value.range, literal);
    if (!startsWith(path, names)) continue;
    if (entry.value.type !== 'TOMLInlineTable') throw new EditConflict(`${pathText(names)} is no table`);
    return setInInlineTable(text, entry.value, path.slice(names.length), literal);
  }
  const dotted = table.body.some((entry) => namesOf(entry.key)[0] === path[0]);
  const [first = '', ...rest] = path;
  const member =
    dotted || rest.length === 0 ? `${pathText(path)} = ${literal}` : `${pathText([first])} = ${nested(rest, literal)}`;
  const last = table.body.at(-1);
  if (!last) return replaceRange(text, table.range, `{ ${member} }`);
  return replaceRange(text, [last.range[1], last.range[1]], `, ${member}`);
}

function nested(path: string[], literal: string): string {
  const [first = '', ...rest] = path;
  return `{ ${pathText([first])} = ${rest.length === 0 ? literal : nested(rest, literal)} }`;
}

export function replaceRange(text: string, range: readonly [number, number], replacement: string): string {
  return text.slice(0, range[0]) + replacement + text.slice(range[1]);
}
