import { plainText } from '../parsed.ts';

/** `version: v1.32.3` at the margin of a snap's manifest. */
export function parseSnapVersion(given: string): string | null {
  const text = plainText(given);
  return text === null ? null : (/^version:[ \t]*['"]?(v?\d[\w.+-]*)/m.exec(text)?.[1] ?? null);
}
