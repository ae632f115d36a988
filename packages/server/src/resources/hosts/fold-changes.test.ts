import { expect, test } from 'vitest';
import { type FactReport, foldChanges } from './fold-changes.ts';

const report = (atMs: number, ...changes: FactReport['changes']): FactReport => ({ atMs, name: 'driver', changes });

test('a value that changed twice is told once: what it was at first and what it is now', () => {
  const reports = [
    report(1, { path: 'value.loadedVersion', before: '550', after: '560' }),
    report(5, { path: 'value.loadedVersion', before: '560', after: '570' }),
  ];
  expect(foldChanges(reports)).toEqual([
    { name: 'driver', path: 'value.loadedVersion', before: '550', after: '570', changes: 2, firstAtMs: 1, lastAtMs: 5 },
  ]);
});

test('what went there and back is no difference', () => {
  const reports = [
    report(1, { path: 'value.a', before: [1], after: null }),
    report(2, { path: 'value.a', before: null, after: [1] }),
  ];
  expect(foldChanges(reports)).toEqual([]);
});

test('a part of what came or went as a whole is told with the whole', () => {
  const came = [
    report(1, { path: 'value.live', before: null, after: { version: 1 } }),
    report(2, { path: 'value.live.version', before: 1, after: 2 }),
  ];
  expect(foldChanges(came).map(({ path }) => path)).toEqual(['value.live']);
  const went = [
    report(1, { path: 'value.live.version', before: 1, after: 2 }),
    report(2, { path: 'value.live', before: { version: 2 }, after: null }),
  ];
  expect(foldChanges(went).map(({ path }) => path)).toEqual(['value.live']);
});

test('the same path of two facts is two differences, in order of their names', () => {
  const change = { path: 'value.a', before: 1, after: 2 };
  const reports = [report(1, change), { ...report(2, change), name: 'docker' }];
  expect(foldChanges(reports).map(({ name }) => name)).toEqual(['docker', 'driver']);
});
