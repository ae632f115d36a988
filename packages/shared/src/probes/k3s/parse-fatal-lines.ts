import { plainText } from '../parsed.ts';

const keptLines = 5;
const keptLength = 500;

/**
 * What k3s and rke2 print before they end, `time="…" level=fatal msg="…"`: the last few, without their time. systemd
 * starts them again every few seconds, and they say the same each time.
 */
export function parseFatalLines(given: string): string[] | null {
  const text = plainText(given);
  if (text === null) return null;
  const fatal = text.split(/\r?\n/).filter((line) => /level=fatal\b|^\s*(?:panic|fatal error): /.test(line));
  const said = fatal.map((line) =>
    line
      .trim()
      .replace(/^time="[^"]*"\s+/, '')
      .slice(0, keptLength),
  );
  // The last time counts of a line that is said again and again.
  return [...new Set(said.reverse())].slice(0, keptLines).reverse();
}
