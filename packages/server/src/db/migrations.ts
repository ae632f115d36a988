import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The folder `drizzle` of this package, from the sources as well as from the bundle in `dist/`. */
export function findMigrationsFolder(from = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'drizzle');
    if (existsSync(join(candidate, 'meta', '_journal.json'))) return candidate;
    if (dirname(folder) === folder) throw new Error(`there is no folder drizzle with migrations above ${from}`);
  }
}

const Journal = z.object({ entries: z.array(z.object({ tag: z.string() })) });

/** How many migrations this build knows: the schema version that it writes. */
export function countMigrations(folder: string): number {
  return Journal.parse(JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'))).entries.length;
}
