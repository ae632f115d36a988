import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * Compares with a file of the repository. `npm run golden` (GOLDEN_UPDATE=1) writes it instead: the diff is then what
 * a reviewer reads.
 */
export function expectGolden(path: string, actual: string): void {
  const file = join(root, path);
  if (process.env.GOLDEN_UPDATE === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  expect(existsSync(file), `${path} is missing: npm run golden writes it`).toBe(true);
  expect(actual, `${path} differs: if the change is meant, npm run golden`).toBe(readFileSync(file, 'utf8'));
}
