import { expect, test } from 'vitest';
import { differences, valuesAt } from './compare.ts';

const answer = {
  value: {
    gpus: [
      { name: 'A', mig: { current: 'enabled' }, devices: [1, 2] },
      { name: 'B', mig: { current: null }, devices: [] },
    ],
  },
  unreadable: [{ path: 'gpus.1', because: 'truncated' }],
};
const keys = [
  { key: 'n', place: 'gpus.*', comparison: 'count' },
  { key: 'gpus.*.name', place: 'gpus.*.name', comparison: 'same' },
  { key: 'gpus.*.mig', place: 'gpus.*.mig.current', comparison: 'words Enabled=enabled' },
  { key: 'gpus.*.devices', place: 'gpus.*.devices.*', comparison: 'count' },
  { key: 'all.name', place: 'gpus.*.name', comparison: 'every' },
  { key: 'names', place: 'gpus.*.name', comparison: 'sorted' },
  { key: 'kinds', place: 'gpus.*.name', comparison: 'distinct' },
  { key: 'because', place: 'unreadable.0.because', comparison: 'within' },
];

test('finds nothing to say of an answer that is as expected', () => {
  const expected = {
    n: 2,
    gpus: [
      { name: 'A', mig: 'Enabled', devices: 2 },
      { name: 'B', mig: null },
    ],
    names: ['B', 'A'],
    kinds: ['B', 'A', 'B'],
    because: 'TRUNC',
  };
  expect(differences(expected, keys, answer)).toEqual([]);
});

test.each([
  [{ n: 3 }],
  [{ gpus: [{ name: 'A' }, { name: 'A' }] }],
  [{ gpus: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] }],
  [{ gpus: [{ mig: null }] }],
  [{ gpus: [{ devices: 1 }] }],
  [{ all: { name: 'A' } }],
  [{ names: ['A'] }],
  [{ kinds: ['A', 'A'] }],
  [{ because: 'lost' }],
])('sees a difference: %j', (expected) => {
  expect(differences(expected, keys, answer)).toHaveLength(1);
});

test('names a key that the page does not map', () => {
  expect(differences({ n: 2, gpus: [{ serial: 'x' }], more: 1 }, keys, answer)).toEqual([
    'gpus.*.serial: docs/reading-samples.md does not say where this is',
    'more: docs/reading-samples.md does not say where this is',
  ]);
});

test('finds keys with dots', () => {
  expect(valuesAt({ capacity: { 'nvidia.com/gpu': '1' } }, 'capacity[nvidia.com/gpu]')).toEqual(['1']);
});
