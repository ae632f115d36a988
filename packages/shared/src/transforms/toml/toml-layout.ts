import { EditConflict } from '../edit-value.ts';
import { eolOf, indentAt, lineStart, nextLine } from '../edited.ts';
import { pathText } from './toml-text.ts';
import { commonLength, endOfTable, startsWith, type TomlTable } from './toml-tree.ts';

/** A new `[path]` after the last table that shares most of its path, else at the end of the file. */
export function insertHeader(text: string, tables: TomlTable[], path: string[], keyLine: string | null): string {
  refuseArrayTable(tables, path);
  const eol = eolOf(text);
  const nearest = nearestTable(tables, path);
  const { header, key } = indentsFor(text, tables, nearest, path);
  const lines = [`${header}[${pathText(path)}]`, ...(keyLine === null ? [] : [key + keyLine])];
  const next = nearest && tables[tables.indexOf(nearest) + 1]?.header;
  if (nearest && next) {
    const at = gapBefore(text, lineStart(text, next.range[0]), nextLine(text, endOfTable(nearest)));
    return `${text.slice(0, at)}${eol}${lines.join(eol)}${eol}${text.slice(at)}`;
  }
  if (text.trim() === '') return text + lines.join(eol) + eol;
  if (!text.endsWith('\n')) return text + eol + eol + lines.join(eol);
  return text + eol + lines.join(eol) + eol;
}

/** Indentation for one more key of a table. */
export function keyIndentOf(text: string, tables: TomlTable[], table: TomlTable): string {
  const last = table.keys.at(-1);
  if (last) return indentAt(text, last.range[0]);
  const header = table.header ? indentAt(text, table.header.range[0]) : '';
  return header + unitOf(text, tables);
}

function nearestTable(tables: TomlTable[], path: string[]): TomlTable | undefined {
  let best: TomlTable | undefined;
  let bestLength = 1;
  for (const table of tables) {
    const length = commonLength(table.path, path);
    if (table.header && length >= bestLength) {
      best = table;
      bestLength = length;
    }
  }
  return best;
}

/** A header below an array of tables would go to its last element, whichever that is. */
function refuseArrayTable(tables: TomlTable[], path: string[]): void {
  for (const table of tables) {
    const at = table.path.findIndex((name) => typeof name === 'number');
    if (at >= 0 && startsWith(path, table.path.slice(0, at)))
      throw new EditConflict(`${pathText(path.slice(0, at))} is an array of tables`);
  }
}

function indentsFor(text: string, tables: TomlTable[], nearest: TomlTable | undefined, path: string[]) {
  const unit = unitOf(text, tables);
  const sibling = tables.findLast(
    (table) => table.header && table.path.length === path.length && commonLength(table.path, path) === path.length - 1,
  );
  const model = sibling ?? nearest;
  if (!model?.header) return { header: '', key: '' };
  const modelIndent = indentAt(text, model.header.range[0]);
  const deeper = path.length - model.path.length;
  const header =
    deeper >= 0
      ? modelIndent + unit.repeat(deeper)
      : modelIndent.slice(0, Math.max(0, modelIndent.length + deeper * unit.length));
  const modelKey = model.keys[0] && indentAt(text, model.keys[0].range[0]);
  const inner = modelKey?.startsWith(modelIndent) ? modelKey.slice(modelIndent.length) : unit;
  return { header, key: header + inner };
}

/** One level of indentation: empty where the file does not indent its headers. */
function unitOf(text: string, tables: TomlTable[]): string {
  const indented = tables.find((table) => table.header && indentAt(text, table.header.range[0]) !== '');
  if (!indented?.header) return '';
  return indentAt(text, indented.header.range[0]).startsWith('\t') ? '\t' : '  ';
}

/** Where a table may end before `headerLine`: above the comments that touch the next header, and the blank lines there. */
function gapBefore(text: string, headerLine: number, floor: number): number {
  let at = headerLine;
  const above = () => text.slice(lineStart(text, at - 1), at).trim();
  while (at > floor && above().startsWith('#')) at = lineStart(text, at - 1);
  while (at > floor && above() === '') at = lineStart(text, at - 1);
  return at;
}
