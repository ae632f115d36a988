import { expect, test } from 'vitest';
import { findReader, plannedReaderNames, readerNames } from './readers.ts';

test('finds a reader by name', () => {
  const found = findReader('nv_tegra_release');
  expect(found.ok && found.read('# R36 (release), REVISION: 4.3').value).toMatchObject({ l4t: '36.4.3' });
});

test('says of a name that is agreed and not here yet what is here', () => {
  for (const name of plannedReaderNames)
    expect(findReader(name)).toEqual({
      ok: false,
      because: 'not_available_yet',
      detail: `this reader is not available yet; available: ${readerNames.join(', ')}`,
    });
});

test('refuses other names, and names that every object has', () => {
  for (const name of ['x', 'toString', '__proto__', ''])
    expect(findReader(name)).toMatchObject({ ok: false, because: 'unknown_reader' });
});

test('reads a node as JSON and as a description', () => {
  const found = findReader('kube_node');
  if (!found.ok) throw new Error(found.detail);
  expect(found.read('{"kind": "Node", "metadata": {"name": "a"}}').value).toMatchObject({ name: 'a' });
  expect(found.read('Capacity:\n  nvidia.com/gpu:  1\n').value).toMatchObject({ capacity: { 'nvidia.com/gpu': '1' } });
});
