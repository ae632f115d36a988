import { renderXidsDoc, xidCatalogue } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { expectGolden } from './golden-file.ts';

test('docs/xids.md says what the catalogue says', () => {
  expectGolden('docs/xids.md', renderXidsDoc());
});

test('every Xid is in the catalogue once, in the order of the numbers', () => {
  const numbers = xidCatalogue.map(({ xid }) => xid);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
});
