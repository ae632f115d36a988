import { expect, test } from 'vitest';
import { hasState, toPatch } from './object-patch.ts';

const labels = (value: string) => ({ metadata: { labels: { 'nvidia.com/gpu.present': value } } });

test('keys that only the other state has must not be there, and what neither names may be as it likes', () => {
  const live = { metadata: { name: 'a', labels: { 'nvidia.com/gpu.present': 'true', zone: 'b' } } };
  expect(hasState(live, labels('true'), { metadata: { labels: {} } })).toBe(true);
  expect(hasState(live, labels('false'), null)).toBe(false);
  expect(hasState(live, { metadata: { labels: {} } }, labels('true'))).toBe(false);
  expect(hasState({ metadata: { labels: { zone: 'b' } } }, { metadata: { labels: {} } }, labels('true'))).toBe(true);
  expect(hasState({ metadata: {} }, labels('true'), null)).toBe(false);
  expect(hasState({ metadata: {} }, { metadata: { labels: {} } }, labels('true'))).toBe(true);
});

const withEnv = (env: { name: string; value: string }[]) => ({
  spec: { template: { spec: { containers: [{ name: 'plugin', env }] } } },
});
const mixed = withEnv([{ name: 'MIG_STRATEGY', value: 'mixed' }]);

test('elements of lists are told by their names, and others stay', () => {
  const live = withEnv([
    { name: 'OTHER', value: 'x' },
    { name: 'MIG_STRATEGY', value: 'mixed' },
  ]);
  expect(hasState(live, mixed, withEnv([]))).toBe(true);
  expect(hasState(live, withEnv([]), mixed)).toBe(false);
  expect(hasState(withEnv([{ name: 'OTHER', value: 'x' }]), withEnv([]), mixed)).toBe(true);
});

test('a patch sets what is to be, and deletes what is not to be, also in lists', () => {
  expect(toPatch({ metadata: { labels: {} } }, labels('true'))).toEqual(labels('true'));
  expect(toPatch(labels('true'), { metadata: { labels: {} } })).toEqual({
    metadata: { labels: { 'nvidia.com/gpu.present': null } },
  });
  expect(toPatch(withEnv([]), mixed)).toEqual(mixed);
  expect(toPatch(mixed, withEnv([]))).toEqual({
    spec: {
      template: { spec: { containers: [{ name: 'plugin', env: [{ name: 'MIG_STRATEGY', $patch: 'delete' }] }] } },
    },
  });
});

test('lists of plain values are replaced as a whole', () => {
  const args = (words: string[]) => ({ args: words });
  expect(hasState(args(['a', 'b']), args(['a']), null)).toBe(false);
  expect(toPatch(args(['a']), args(['b']))).toEqual(args(['b']));
  const tolerations = (one: object) => ({ tolerations: [one] });
  // The API sorts keys and adds what it has by default.
  const live = tolerations({ effect: 'NoSchedule', key: 'a', operator: 'Exists' });
  expect(hasState(live, { tolerations: [{ key: 'a', operator: 'Exists' }] }, null)).toBe(true);
  expect(hasState(live, { tolerations: [{ key: 'b', operator: 'Exists' }] }, null)).toBe(false);
});
