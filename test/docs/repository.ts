import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceText } from './collect-codes.ts';

export const root = join(import.meta.dirname, '../..');

const leftOut = new Set(['node_modules', 'dist', '.git', '.cache']);

/** Paths of the repository's files, with `/`, that `wanted` likes. */
export function listFiles(folder: string, wanted: (path: string) => boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (leftOut.has(entry.name)) return [];
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(path, wanted);
    return entry.isFile() && wanted(path) ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What the programs are made of: no tests, no doubles. */
export function productSources(): SourceText[] {
  return listFiles('packages', (path) => /\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path)).map(
    (path) => ({ path, text: readText(path) }),
  );
}
