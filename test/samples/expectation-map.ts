import { readFileSync } from 'node:fs';

export interface MappedKey {
  key: string;
  place: string;
  comparison: string;
}

export interface ExpectationMap {
  /** Keys by reader. */
  keys: Map<string, MappedKey[]>;
  readerOf: Map<string, string>;
  notCovered: Set<string>;
}

/** The tables of docs/reading-samples.md: the page is what the test runs. */
export function readExpectationMap(): ExpectationMap {
  const page = readFileSync(new URL('../../docs/reading-samples.md', import.meta.url), 'utf8');
  const map: ExpectationMap = { keys: new Map(), readerOf: new Map(), notCovered: new Set() };
  for (const section of page.split('\n## ').slice(1)) {
    const reader = section.split('\n')[0]?.trim() ?? '';
    const listed = /^Kinds( without a reader)?: (.*)$/m.exec(section);
    const kinds = listed?.[2]?.split(', ') ?? [];
    if (listed?.[1]) for (const kind of kinds) map.notCovered.add(kind);
    else for (const kind of kinds) map.readerOf.set(kind, reader);
    const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| key '));
    const keys = rows.map((line) => {
      const [key = '', place = '', comparison = ''] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return { key, place, comparison };
    });
    if (keys.length > 0) map.keys.set(reader, keys);
  }
  return map;
}
