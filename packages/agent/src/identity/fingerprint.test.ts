import { expect, test } from 'vitest';
import { compareMachine, deriveFingerprint } from './fingerprint.ts';
import { sha256 } from './key.ts';

test('the same parts give the same fingerprint in any order', () => {
  const one = deriveFingerprint({ machine_id: 'a', product_uuid: 'b' }, 'key', sha256);
  expect(deriveFingerprint({ product_uuid: 'b', machine_id: 'a' }, 'other key', sha256)).toBe(one);
});

test('hosts that show nothing are told apart by their keys', () => {
  expect(deriveFingerprint({}, 'key 1', sha256)).not.toBe(deriveFingerprint({}, 'key 2', sha256));
});

test.each([
  ['a copied disk', { machine_id: 'm', product_uuid: 'u1' }, { machine_id: 'm', product_uuid: 'u2' }, false],
  [
    'a copied card between boards',
    { machine_id: 'm', device_tree_serial: '1' },
    { machine_id: 'm', device_tree_serial: '2' },
    false,
  ],
  [
    'a reinstalled system on known hardware',
    { machine_id: 'm1', product_uuid: 'u' },
    { machine_id: 'm2', product_uuid: 'u' },
    true,
  ],
  ['an agent that has lost root', { machine_id: 'm', product_uuid: 'u' }, { machine_id: 'm' }, true],
  ['another machine-id where no hardware shows', { machine_id: 'm1' }, { machine_id: 'm2' }, false],
  ['nothing to compare', { product_uuid: 'u' }, {}, true],
])('judges %s', (_title, enrolled, now, same) => {
  expect(compareMachine(enrolled, now).same).toBe(same);
});
