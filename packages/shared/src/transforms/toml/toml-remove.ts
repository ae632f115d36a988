import type { AST } from 'toml-eslint-parser';
import { lineStart, nextLine } from '../edited.ts';
import { endOfTable, fullPath, namesOf, startsWith, tablesOf } from './toml-tree.ts';

/** Takes out the key or the table with all that is below it; one range at a time, last first. */
export function removePath(text: string, path: string[]): string {
  return rangesOf(text, path)
    .sort((a, b) => b[0] - a[0])
    .reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

function rangesOf(text: string, path: string[]): [number, number][] {
  return tablesOf(text).flatMap((table) => {
    if (table.header && startsWith(table.path, path))
      return [linesOf(text, blankBefore(text, table.header.range[0]), endOfTable(table))];
    return table.keys.flatMap((entry): [number, number][] => {
      const full = fullPath(table, entry);
      if (startsWith(full, path)) return [linesOf(text, entry.range[0], entry.range[1])];
      if (!startsWith(path, full) || entry.value.type !== 'TOMLInlineTable') return [];
      return membersOf(entry.value, path.slice(full.length));
    });
  });
}

function linesOf(text: string, from: number, to: number): [number, number] {
  return [lineStart(text, from), nextLine(text, to)];
}

/** One blank line above a header goes with it. */
function blankBefore(text: string, header: number): number {
  const start = lineStart(text, header);
  const above = lineStart(text, start - 1);
  return start > 0 && text.slice(above, start).trim() === '' ? above : header;
}

/** Ranges in an inline table, each with one comma. */
function membersOf(table: AST.TOMLInlineTable, path: string[]): [number, number][] {
  const gone = table.body.map((entry) => startsWith(namesOf(entry.key), path));
  return table.body.flatMap((entry, index): [number, number][] => {
    const names = namesOf(entry.key);
    if (!gone[index]) {
      if (!startsWith(path, names) || entry.value.type !== 'TOMLInlineTable') return [];
      return membersOf(entry.value, path.slice(names.length));
    }
    const previous = table.body[index - 1];
    const next = table.body[index + 1];
    // With everything before gone too, the comma to take is the one behind.
    if (previous && !gone.slice(0, index).every(Boolean)) return [[previous.range[1], entry.range[1]]];
    return [[entry.range[0], next ? next.range[0] : entry.range[1]]];
  });
}
