import { expect, test } from 'vitest';
import { compareVersions, isOlderThan, versionParts } from './versions.ts';

test.each([
  ['v1.7.24-k3s1', [1, 7, 24]],
  ['28.5.2+dfsg4', [28, 5, 2]],
  ['main', null],
  [null, null],
])('the numbers of %j are %j', (version, parts) => {
  expect(versionParts(version)).toEqual(parts);
});

test.each([
  ['1.17.8', [1, 18], true],
  ['1.18.0', [1, 18], false],
  ['1.18', [1, 18, 1], true],
  ['2.0', [1, 18], false],
  [null, [1, 18], false],
  ['unknown', [1, 18], false],
])('%j is older than %j: %j', (version, limit, older) => {
  expect(isOlderThan(version, limit)).toBe(older);
});

test('sorts by numbers, not by text, and a missing number is zero', () => {
  expect(['1.18.0', '1.9.1', '1.10', '1.10.0-rc.2'].sort(compareVersions)).toEqual([
    '1.9.1',
    '1.10',
    '1.10.0-rc.2',
    '1.18.0',
  ]);
});
