import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesSelector, parseSelector } from './selector.ts';

const labels = { gpu: 'a100', env: 'prod', tier: '' };

test.each([
  ['', true],
  ['  ', true],
  ['gpu=a100', true],
  ['gpu == a100', true],
  ['gpu=h100', false],
  ['gpu!=h100', true],
  ['missing!=x', true],
  ['gpu in (a100,h100)', true],
  ['gpu in(h100)', false],
  ['gpu notin (h100, l4)', true],
  ['missing notin (x)', true],
  ['gpu', true],
  ['missing', false],
  ['!missing', true],
  ['!gpu', false],
  ['tier=', true],
  ['in=x', false],
  ['gpu=a100,env!=lab,!old', true],
  ['gpu=a100, env=lab', false],
  ['toString', false],
])('selects by %j: %s', (text, selected) => {
  const parsed = parseSelector(text);
  expect(parsed.ok).toBe(true);
  if (parsed.ok) expect(matchesSelector(labels, parsed.selector)).toBe(selected);
});

test.each([
  ['gpu=a100,', 9, 'a label key is missing'],
  ['gpu>3', 3, 'expected =, ==, !=, in or notin, found ">"'],
  ['gpu in a', 7, 'expected ( and a list of values'],
  ['gpu in (a', 9, 'the list is not closed by )'],
  ['gpu in ()', 8, '")" is no label value'],
  ['gpu=a b', 6, 'expected a comma, found "b"'],
  ['-x=1', 0, '"-x" is no label key'],
  ['!', 1, 'a label key is missing'],
  ['gpu=a=b', 5, 'expected a comma, found "="'],
])('refuses %j at %d', (text, at, message) => {
  expect(parseSelector(text)).toEqual({ ok: false, message, at });
});

test('never throws and points into the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab=!(),<> in'), maxLength: 30 }), (text) => {
      const parsed = parseSelector(text);
      if (!parsed.ok) expect(parsed.at).toBeLessThanOrEqual(text.length);
    }),
  );
});
