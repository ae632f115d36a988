import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeLock, type LockFile, type Manifest } from './lock-file.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const lock: LockFile = read('package-lock.json');
const main: Manifest = read('package.json');
const folders = main.workspaces ?? [];
const manifests: Record<string, Manifest> = {
  '': main,
  ...Object.fromEntries(folders.map((folder) => [folder, read(`${folder}/package.json`)])),
};

test('the lock file agrees with every package.json, every dependency is exact, overrides hold', () => {
  expect(folders).toHaveLength(4);
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(judgeLock(lock, manifests)).toEqual([]);
});

test('every package is private and npm refuses a Node that is too old', () => {
  expect(Object.values(manifests).map((manifest) => manifest.private)).toEqual(Array(5).fill(true));
  expect(main.engines).toEqual({ node: '>=20.19' });
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toContain('engine-strict=true\n');
});

const agent = 'packages/agent';
const changed = (change: Partial<Manifest>) => ({ [agent]: { ...(manifests[agent] as Manifest), ...change } });

test.each([
  ['another version', changed({ version: '9.9.9' }), 'packages/agent/package.json: version is not'],
  ['a new dependency', changed({ dependencies: { left: '1.0.0' } }), 'left 1.0.0 is locked as undefined'],
  ['a range', changed({ dependencies: { zod: '^4.0.0' } }), 'zod ^4.0.0 is not exact'],
  ['an unlocked workspace', { 'packages/new': manifests[agent] as Manifest }, 'packages/new/package.json is not in'],
  ['an override that does not hold', { '': { ...main, overrides: { cookie: '1.0.0' } } }, 'cookie 1.0.0 is locked as'],
])('%s is seen', (_what, given, problem) => {
  expect(judgeLock(lock, given).join('\n')).toContain(problem);
});

test('a package of a mirror, or without a hash, is seen', () => {
  const packages = { 'node_modules/a': { version: '1.0.0', resolved: 'https://mirror.example.com/a.tgz' } };
  expect(judgeLock({ lockfileVersion: 3, packages }, {})).toEqual([
    'node_modules/a comes from https://mirror.example.com/a.tgz',
    'node_modules/a has no SHA-512',
  ]);
});
