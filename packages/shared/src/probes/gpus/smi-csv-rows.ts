export interface CsvRow {
  cells: string[];
  /** The row has no line end and its last cell could be a part of a longer one. */
  cut: boolean;
}

/** What cannot be the beginning of something longer. */
const whole = /(?:\]|[\d.] (?:MiB|MHz|W|C|%|us|ms|seconds)|^N\/A|^Enabled|^Disabled|^Active|^Not Active)$/;
/** Printed beside the rows. */
const remark = /^(?:WARNING|ERROR)\b/i;
/** Every field there is, and a command line, are a tenth of it. */
const longestRow = 100_000;
/** A report of every GPU of a large host, once a second for an hour, is read; a table for a database is not. */
export const mostCsvRows = 20_000;

/** Null: no such output. Cells are separated by a comma and a blank; a cell in quotes may hold both. */
export function readSmiCsvRows(text: string): CsvRow[] | null {
  const lines = text.split(/\r?\n/);
  const ended = lines.at(-1)?.trim() === '';
  const rows: CsvRow[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || remark.test(line)) continue;
    if (rows.length > mostCsvRows) break;
    if (line.length > longestRow) return null;
    const cells = splitCells(line);
    rows.push({ cells, cut: at === lines.length - 1 && !ended && !whole.test(cells.at(-1) ?? '') });
  }
  return rows;
}

function splitCells(line: string): string[] {
  if (!line.includes('"')) return line.split(/,(?:\s|$)/).map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let begun = false;
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? '';
    if (letter === '"' && quoted && line[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (letter === '"' && (quoted || !begun)) {
      quoted = !quoted;
      begun = true;
    } else if (letter === ',' && !quoted && (at + 1 === line.length || line[at + 1] === ' ')) {
      cells.push(cell.trim());
      cell = '';
      begun = false;
    } else {
      cell += letter;
      begun ||= letter !== ' ';
    }
  }
  return [...cells, cell.trim()];
}
