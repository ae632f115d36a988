import { EditConflict } from '../edit-value.ts';
import { eolOf, indentAt, nextLine } from '../edited.ts';
import { replaceRange } from './toml-set.ts';
import { pathText } from './toml-text.ts';
import { findValue } from './toml-tree.ts';

/** One more element at the end of a list, in the list's own layout. */
export function appendElement(text: string, path: string[], literal: string): string {
  const list = findValue(text, path);
  if (list?.type !== 'TOMLArray') throw new EditConflict(`${pathText(path)} is not a list`);
  const last = list.elements.at(-1);
  if (!last) return replaceRange(text, list.range, `[${literal}]`);
  const end = last.range[1];
  const comma = commaAfter(text, end, list.range[1] - 1);
  const indent = indentAt(text, last.range[0]);
  const ownLine = text.slice(0, last.range[0]).endsWith(`\n${indent}`) && list.range[0] < last.range[0] - indent.length;
  if (!ownLine) {
    if (comma === null) return replaceRange(text, [end, end], `, ${literal}`);
    return replaceRange(text, [comma + 1, comma + 1], ` ${literal}`);
  }
  const eol = eolOf(text);
  const lineEnd = nextLine(text, end);
  // The closing bracket may stand on the last element's line.
  const at = lineEnd > list.range[1] - 1 ? end : lineEnd - eol.length;
  if (comma !== null && comma < Math.max(at, end + 1)) {
    const from = Math.max(at, comma + 1);
    return replaceRange(text, [from, from], `${eol}${indent}${literal},`);
  }
  const added = replaceRange(text, [at, at], `${eol}${indent}${literal}`);
  return comma === null
    ? replaceRange(added, [end, end], ',')
    : replaceRange(text, [comma + 1, comma + 1], ` ${literal}`);
}

function commaAfter(text: string, from: number, to: number): number | null {
  for (let at = from; at < to; at++) {
    if (text[at] === ',') return at;
    if (text[at] === '#') at = nextLine(text, at) - 1;
  }
  return null;
}
