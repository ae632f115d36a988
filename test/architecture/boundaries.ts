import { dirname, normalize } from 'node:path/posix';

export interface SourceFile {
  /** Repository-relative, with `/`. */
  path: string;
  text: string;
}

export interface Violation {
  path: string;
  specifier: string;
  because: string;
}

/** Which package's source each package may import. */
const mayImport: Record<string, readonly string[]> = {
  shared: [],
  agent: ['shared'],
  server: ['shared'],
  cli: ['shared'],
};

const importPattern = /(?:^|[;\n])\s*(?:import|export)\b[^'";]*?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** Module specifiers of static imports, re-exports and literal dynamic imports. */
function specifiersOf(text: string): string[] {
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? '');
}

function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\/src\//.exec(path)?.[1];
}

/** `server/src/resources/hosts/x.ts` → `hosts`. */
function resourceOf(path: string): string | undefined {
  return /^packages\/server\/src\/resources\/([^/]+)\//.exec(path)?.[1];
}

function resolve(file: SourceFile, specifier: string): string | undefined {
  const shared = /^@gpufleet\/shared\/(.+)$/.exec(specifier)?.[1];
  if (shared !== undefined) return `packages/shared/src/${shared}/index.ts`;
  const other = /^@gpufleet\/([^/]+)/.exec(specifier)?.[1];
  if (other !== undefined) return `packages/${other}/src/index.ts`;
  if (!specifier.startsWith('.')) return undefined;
  return normalize(`${dirname(file.path)}/${specifier}`);
}

/**
 * What the lint cannot see: a relative path into another package, and another resource entered by a side door.
 * Tables may be shared inside `server`: a foreign key is a fact of the store, not of a resource's behaviour.
 */
export function findViolations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => specifiersOf(file.text).flatMap((specifier) => judge(file, specifier)));
}

function judge(file: SourceFile, specifier: string): Violation[] {
  const target = resolve(file, specifier);
  const from = packageOf(file.path);
  if (target === undefined || from === undefined || target === `packages/${from}/package.json`) return [];
  const say = (because: string): Violation[] => [{ path: file.path, specifier, because }];
  const to = packageOf(target);
  if (to === undefined) return say(`${from} imports outside every package's source`);
  if (to !== from && !(mayImport[from] ?? []).includes(to)) return say(`${from} may not import ${to}`);
  if (to !== from && specifier.startsWith('.')) return say('another package is imported by its name, not by a path');
  if (from === 'cli' && to === 'shared' && target !== 'packages/shared/src/api/index.ts')
    return say('cli imports only the API part of shared');
  const [home, door] = [resourceOf(file.path), resourceOf(target)];
  const isTest = /\.test\.ts$|\/testing\//.test(file.path);
  if (door !== undefined && home !== door && !isTest && !/\/(index|table)\.ts$/.test(target)) {
    return file.path === 'packages/server/src/db/schema.ts'
      ? []
      : say(`resource ${door} is entered through its index.ts`);
  }
  return [];
}
