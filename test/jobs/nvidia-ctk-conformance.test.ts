import { expect, test } from 'vitest';
import { expectGolden } from '../golden/golden-file.ts';
import { hasCorpus, ifSkipped } from '../samples/corpus.ts';
import { conformancePage } from './conformance-page.ts';
import { type Row, rowOf } from './conformance-row.ts';
import { numberOf, readCtkCases } from './nvidia-ctk-case.ts';
import { deviations, notCompared } from './nvidia-ctk-deviations.ts';

const cases = readCtkCases().filter((given) => !(numberOf(given) in notCompared));
const rows: Row[] = await Promise.all(cases.map(rowOf));
const isAlike = ({ cells }: Row) => Object.values(cells).every(({ at }) => at === 'same' || at === 'both_refuse');

test.skipIf(!hasCorpus)(`there are cases to compare with${ifSkipped}`, () => {
  const count = (runtime: Row['runtime']) => rows.filter((row) => row.runtime === runtime).length;
  expect(count('docker')).toBeGreaterThanOrEqual(18);
  expect(count('containerd')).toBeGreaterThanOrEqual(25);
  expect(count('crio')).toBeGreaterThanOrEqual(5);
});

test.skipIf(!hasCorpus).each(rows.map((row) => [row.name, row] as const))(
  'the engine runs as nvidia-ctk would have it, or better for a reason that is named: %s',
  (_, row) => {
    for (const cell of Object.values(row.cells)) expect(cell.at).not.toBe('ours_fails');
    // A reason for what is not there any more would hide the next one.
    expect(numberOf(row) in deviations, JSON.stringify(row.cells)).toBe(!isAlike(row));
  },
);

test.skipIf(!hasCorpus)('the table for people is what came out', () => {
  expectGolden('docs/nvidia-ctk-conformance.md', conformancePage(rows));
});
