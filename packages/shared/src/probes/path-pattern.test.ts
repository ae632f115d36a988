import { expect, test } from 'vitest';
import { matchesPattern } from './path-pattern.ts';

test.each([
  ['/a/b', '/a/b', true],
  ['/a/*', '/a/b', true],
  ['/a/*', '/a/b/c', false],
  ['/a/*.toml', '/a/x.toml', true],
  ['/a/*.toml', '/a/.toml', true],
  ['/a/*.toml', '/a/x.toml.bak', false],
  ['/a/*b*b', '/a/b', false],
  ['/a/*b*b', '/a/xbyb', true],
  ['/a/*/c', '/a/b/c', true],
  ['/a', '/a/', false],
])('pattern %s and path %s: %s', (pattern, path, expected) => {
  expect(matchesPattern(pattern, path)).toBe(expected);
});
