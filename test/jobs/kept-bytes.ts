/** Lines with their ends, so that nothing of a text is left out. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Keys whose line an edit may write anew. */
const ownKeys =
  /\b(BinaryName|Runtime|SystemdCgroup|runtime_type|options|default_runtime_name|enable_cdi|disabled_plugins|imports|version|default-runtime|path|cdi|runtimes|features)\b/;

/**
 * What an edit lost or changed that is none of its keys: the first such line, or null. The last line of a text may get
 * a line end, and one that ended a list or an object a comma.
 */
export function firstLost(before: string, after: string): string | null {
  const lines = linesOf(after);
  let from = 0;
  for (const line of linesOf(before)) {
    const isKept = (candidate: string) => candidate === line || withoutAddition(candidate, line);
    const at = lines.findIndex((candidate, index) => index >= from && isKept(candidate));
    if (at >= 0) from = at + 1;
    else if (!ownKeys.test(line)) return line;
  }
  return null;
}

function withoutAddition(candidate: string, line: string): boolean {
  const bare = (text: string) => text.replace(/\r?\n$/, '');
  return bare(candidate) === bare(line) ? !line.endsWith('\n') : bare(candidate) === `${bare(line)},`;
}

/** A line that an edit made ends as the lines of its file do. */
export function firstOtherEnd(before: string, after: string): string | null {
  if (!before.includes('\n')) return null;
  const isCrlf = !/(?<!\r)\n/.test(before);
  const isLf = !before.includes('\r\n');
  if (!isCrlf && !isLf) return null;
  return linesOf(after).find((line) => line.endsWith('\n') && line.endsWith('\r\n') !== isCrlf) ?? null;
}
