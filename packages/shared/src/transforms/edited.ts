/** A config text after edits, or why it was left alone. */
export type Edited =
  | { ok: true; text: string }
  | {
      ok: false;
      /** `config_invalid`: the file is broken. `edit_conflict`: it has another shape. `edit_not_verified`: our bug. */
      because: 'config_invalid' | 'edit_conflict' | 'edit_not_verified';
      detail: string;
    };

const byteOrderMark = '\uFEFF';

export function splitBom(text: string): { bom: string; body: string } {
  return text.startsWith(byteOrderMark) ? { bom: byteOrderMark, body: text.slice(1) } : { bom: '', body: text };
}

/** The line end that the text uses first. */
export function eolOf(text: string): '\n' | '\r\n' {
  return /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n';
}

export function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Start of the line that `offset` is in. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Offset just after the line end that follows `offset`; the text's length on the last line. */
export function nextLine(text: string, offset: number): number {
  const at = text.indexOf('\n', offset);
  return at < 0 ? text.length : at + 1;
}

/** Blanks at the start of the line that `offset` is in. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';
}

/** `line` as a line of its own after the one that holds `offset`; a text without a final line end stays without. */
export function insertLineAfter(text: string, offset: number, line: string, eol: string): string {
  const at = nextLine(text, offset);
  if (at === text.length && !text.endsWith('\n')) return text === '' ? line + eol : text + eol + line;
  return `${text.slice(0, at)}${line}${eol}${text.slice(at)}`;
}
