import { plainText } from '../parsed.ts';

const keptLines = 5;
const keptLength = 500;

/** What k3s and rke2 print before they end: `time="…" level=fatal msg="…"`; the last few, each as it is printed. */
export function parseFatalLines(given: string): string[] | null {
  const text = plainText(given);
  if (text === null) return null;
  const fatal = text.split(/\r?\n/).filter((line) => /level=fatal\b|^\s*(?:panic|fatal error): /.test(line));
  return fatal.slice(-keptLines).map((line) => line.trim().slice(0, keptLength));
}
