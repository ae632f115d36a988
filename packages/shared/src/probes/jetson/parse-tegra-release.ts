import { type Parsed, plainText, unread } from '../parsed.ts';

export interface TegraRelease {
  /** major.minor.patch */
  l4t: string;
  /** As printed; not a reliable name of the board. */
  board: string | null;
}

/** First line of /etc/nv_tegra_release: `# R36 (release), REVISION: 4.7, GCID: …, BOARD: generic, …`. */
export function parseTegraRelease(given: string): Parsed<TegraRelease> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const match = /^#\s*R(\d{1,3})\s*\([^)]*\),\s*REVISION:\s*(\d{1,3}(?:\.\d{1,3}){1,2}(?![.\d])|\d{1,3}(?=,))/m.exec(
    text,
  );
  if (!match) return unread('not_tegra_release');
  const revision = match[2] ?? '';
  const l4t = `${match[1]}.${revision.includes('.') ? revision : `${revision}.0`}`;
  return { value: { l4t, board: /BOARD:\s*([^,\s]+)(?=[,\s])/.exec(text)?.[1] ?? null }, unreadable: [] };
}

/** Version of the package `nvidia-l4t-core` in dpkg's status file or in `dpkg -l`: `36.4.3-20250107174145`. */
export function parseL4tPackage(text: string): string | null {
  const paragraph = text.split('\n\n').find((one) => /^Package: nvidia-l4t-core$/m.test(one));
  const status = /^Version: (\d+\.\d+\.\d+)/m.exec(paragraph ?? '');
  const listed = /^ii\s+nvidia-l4t-core(?::\S+)?\s+(\d+\.\d+\.\d+)/m.exec(text);
  return status?.[1] ?? listed?.[1] ?? null;
}
