import { expect, test } from 'vitest';
import { findReader, readerNames, readers } from './readers.ts';

test('finds a reader by name', () => {
  const found = findReader('nv_tegra_release');
  expect(found.ok && found.read('# R36 (release), REVISION: 4.3').value).toMatchObject({ l4t: '36.4.3' });
});

test('refuses other names, and names that every object has, and says what is here', () => {
  const detail = `there is no such reader; available: ${readerNames.join(', ')}`;
  for (const name of ['x', 'toString', '__proto__', ''])
    expect(findReader(name)).toEqual({ ok: false, because: 'unknown_reader', detail });
});

test('reads a node as JSON and as a description', () => {
  const found = findReader('kube_node');
  if (!found.ok) throw new Error(found.detail);
  expect(found.read('{"kind": "Node", "metadata": {"name": "a"}}').value).toMatchObject({ name: 'a' });
  expect(found.read('Capacity:\n  nvidia.com/gpu:  1\n').value).toMatchObject({ capacity: { 'nvidia.com/gpu': '1' } });
});

const hostile: [string, string][] = [
  ['nothing', ''],
  ['zeros', '\0\0\0'],
  ['half a character', '\ud800'],
  ['megabytes of blanks', ' '.repeat(30_000_000)],
  ['megabytes of lines', '\n'.repeat(30_000_000)],
  ['megabytes of one word', 'x'.repeat(30_000_000)],
  ['brackets', '['.repeat(1_000_000)],
  ['deep JSON', '{"a":'.repeat(100_000)],
  ['deep TOML', `a = ${'['.repeat(20_000)}`],
  [
    'YAML aliases',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replaceAll(/./g, (key) => `${key}: &${key} [${`*${String.fromCharCode(key.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
  ],
  ['an alias of itself', 'a: &a [*a]\n'],
  [
    'XML entities',
    '<!DOCTYPE a [<!ENTITY x "y">]><nvidia_smi_log><driver_version>&x;</driver_version></nvidia_smi_log>',
  ],
  ['many GPUs', `<nvidia_smi_log>${'<gpu id="00000000:01:00.0"></gpu>'.repeat(100_000)}</nvidia_smi_log>`],
];

test.each(hostile)('no reader throws on %s', (_title, text) => {
  for (const name of readerNames) expect(readers[name](text)).toMatchObject({ unreadable: expect.any(Array) });
});

test.each([
  ['smi_list', 'GPU 0: Tesla T4 (UUID: GPU-12345678-1234-1234-1234-123456789012)\n'],
  ['mig_result', 'Enabled MIG Mode for GPU 00000000:36:00.0\nAll done.\n'],
  ['nv_tegra_release', '# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic\n'],
  ['docker', '{"default-runtime": "nvidia"}\n'],
  ['toolkit', 'disable-require = false\n'],
  ['containerd', 'version = 2\n'],
] as const)('%s reads the same with a byte order mark and with CRLF', (name, text) => {
  const plain = readers[name](text);
  expect(plain.value).not.toBeNull();
  expect(readers[name](`\ufeff${text}`)).toEqual(plain);
  expect(readers[name](text.replaceAll('\n', '\r\n'))).toEqual(plain);
});

test('a list that is there twice has each GPU once', () => {
  const text = 'GPU 0: A100 (UUID: GPU-1)\n  MIG 3g.20gb     Device  0: (UUID: MIG-1)\nGPU 1: A100 (UUID: GPU-2)\n';
  expect(readers.smi_list(text + text)).toEqual(readers.smi_list(text));
});
