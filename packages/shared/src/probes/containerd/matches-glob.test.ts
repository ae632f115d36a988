import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob } from './matches-glob.ts';

test.each([
  ['*.toml', '99-nvidia.toml', true],
  ['*.toml', '99-nvidia.toml.bak', false],
  ['*', '', true],
  ['9?-*.toml', '99-nvidia.toml', true],
  ['9?-*.toml', '9-nvidia.toml', false],
  ['[0-9]*', '99-nvidia.toml', true],
  ['[0-9]*', 'nvidia.toml', false],
  ['[^0-9]*', 'nvidia.toml', true],
  ['[a-', 'a', false],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a*b*c', 'aXbYbZc', true],
  ['a*b*c', 'aXbYbZ', false],
])('%s and %s: %s', (pattern, name, matches) => {
  expect(matchesGlob(pattern, name)).toBe(matches);
});

test('ends soon, whatever is asked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (pattern, name) => void matchesGlob(pattern, name)),
  );
  expect(matchesGlob(`${'*a'.repeat(200)}b`, 'a'.repeat(20_000))).toBe(false);
});
