import { findReader, type Reader } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { differences } from './compare.ts';
import { hasCorpus, ifSkipped, readCaptures } from './corpus.ts';
import { readExpectationMap } from './expectation-map.ts';

const map = readExpectationMap();
const captures = readCaptures();
const covered = captures.filter(({ kind }) => map.readerOf.has(kind));

function readerFor(kind: string): { name: string; read: Reader } {
  const name = map.readerOf.get(kind) ?? '';
  const found = findReader(name);
  if (!found.ok) throw new Error(`${name}: ${found.detail}`);
  return { name, read: found.read };
}

test('the page names only readers that exist', () => {
  for (const kind of map.readerOf.keys()) expect(() => readerFor(kind)).not.toThrow();
  expect([...map.keys.keys()].sort()).toEqual([...new Set(map.readerOf.values())].sort());
});

test.skipIf(!hasCorpus)(`every kind of capture is covered or said not to be${ifSkipped}`, () => {
  const unknown = [...new Set(captures.map(({ kind }) => kind))].filter(
    (kind) => !map.readerOf.has(kind) && !map.notCovered.has(kind),
  );
  expect(unknown).toEqual([]);
  expect(covered.length).toBeGreaterThan(100);
});

test.skipIf(!hasCorpus).each(covered.map((capture) => [capture.file, capture] as const))(
  'reads as expected: %s',
  (_, { kind, expect: expected, text }) => {
    const { name, read } = readerFor(kind);
    expect(differences(expected, map.keys.get(name) ?? [], read(text))).toEqual([]);
  },
);

test.skipIf(!hasCorpus)('no reader throws on any capture, whole or cut, of its kind or not', () => {
  const readers = [...new Set(map.readerOf.values())].map((name) => findReader(name));
  for (const { text } of captures) {
    for (const found of readers) {
      if (!found.ok) throw new Error(found.detail);
      for (const cut of [text.length, Math.floor(text.length / 2), Math.floor(text.length / 3)])
        expect(() => found.read(text.slice(0, cut))).not.toThrow();
    }
  }
});
