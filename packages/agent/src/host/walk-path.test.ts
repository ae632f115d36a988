import { expect, test } from 'vitest';
import { type Found, walkPath } from './walk-path.ts';

const links: Record<string, string> = {
  '/a': '/x',
  '/b': '../../x/f',
  '/x/up': '..',
  '/self': 'self',
  '/deep': '/a/f',
};
const lookup = async (path: string): Promise<Found> => {
  const target = links[path];
  if (target !== undefined) return { type: 'symlink', target };
  if (path === '/x' || path === '/x/d') return { type: 'dir' };
  return path === '/x/f' ? { type: 'file' } : undefined;
};

test.each([
  ['/', '/', []],
  ['/x/f', '/x/f', []],
  ['/a/f', '/x/f', []],
  ['/deep', '/x/f', []],
  ['/b', '/x/f', []],
  ['/x/up/x/d', '/x/d', []],
  ['/../../x', '/x', []],
  ['/x/n', '/x/n', ['n']],
  ['/a/n/m', '/x/n/m', ['n', 'm']],
])('%s leads to %s', async (path, end, missing) => {
  expect(await walkPath(path, lookup)).toMatchObject({ path: end, missing });
});

test('the last link is kept when it is asked for itself', async () => {
  expect(await walkPath('/a', lookup, { keepLast: true })).toMatchObject({ path: '/a', found: { type: 'symlink' } });
  expect(await walkPath('/a/f', lookup, { keepLast: true })).toMatchObject({ path: '/x/f' });
});

test.each([
  ['/self', 'ELOOP'],
  ['/x/f/g', 'ENOTDIR'],
  ['/n/../x', 'ENOENT'],
  ['x', 'EIO'],
])('%s fails with %s', async (path, code) => {
  await expect(walkPath(path, lookup)).rejects.toMatchObject({ code });
});
