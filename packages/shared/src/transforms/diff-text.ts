import { redactLines } from './redact.ts';

const contextLines = 3;
const maxLines = 400;
const maxLineLength = 500;
/** Above this the middle of two texts is shown as replaced: the table of the comparison would grow with its square. */
const maxCells = 1_000_000;

type Line = { sign: ' ' | '-' | '+'; text: string };

/** Unified diff for people: secrets are blanked by key name, and it is cut after 400 lines. Empty when nothing changed. */
export function diffText(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const [oldLines, newLines] = [toLines(before), toLines(after)];
  const shown = hunksOf(compareLines(oldLines, newLines), redactLines(oldLines), redactLines(newLines));
  const head = [`--- ${before === null ? '/dev/null' : path}`, `+++ ${after === null ? '/dev/null' : path}`];
  const cut =
    shown.length > maxLines ? [...shown.slice(0, maxLines), `… ${shown.length - maxLines} more lines`] : shown;
  return `${[...head, ...cut].join('\n')}\n`;
}

function toLines(text: string | null): string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push('\\ No newline at end of file');
  return lines.map((line) => line.replace(/\r$/, ''));
}

function compareLines(before: string[], after: string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (lines: string[]): Line[] => lines.map((text) => ({ sign: ' ', text }));
  return [
    ...same(before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

/** Longest common subsequence. */
function compareMiddle(before: string[], after: string[]): Line[] {
  const gone = (text: string): Line => ({ sign: '-', text });
  const made = (text: string): Line => ({ sign: '+', text });
  if (before.length * after.length > maxCells) return [...before.map(gone), ...after.map(made)];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const fresh = after[j];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: ' ', text: old });
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(old));
      i++;
    } else if (fresh !== undefined) {
      lines.push(made(fresh));
      j++;
    }
  }
  return lines;
}

function hunksOf(lines: Line[], oldShown: readonly string[], newShown: readonly string[]): string[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some((line) => line.sign !== ' '),
  );
  const shown: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  lines.forEach((line, index) => {
    if (near[index]) {
      if (!near[index - 1]) shown.push(`@@ -${oldLine} +${newLine} @@`);
      const text = (line.sign === '+' ? newShown[newLine - 1] : oldShown[oldLine - 1]) ?? '';
      shown.push((line.sign + text).slice(0, maxLineLength));
    }
    if (line.sign !== '+') oldLine++;
    if (line.sign !== '-') newLine++;
  });
  return shown;
}
