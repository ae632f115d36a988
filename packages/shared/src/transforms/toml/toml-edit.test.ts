import fc from 'fast-check';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import type { KeyEdit } from '../../jobs/step.ts';
import { editToml } from './toml-edit.ts';

function edit(text: string, ...edits: KeyEdit[]): string {
  const edited = editToml(text, edits);
  if (!edited.ok) throw new Error(`${edited.because}: ${edited.detail}`);
  return edited.text;
}

const cri = ['plugins', 'io.containerd.grpc.v1.cri', 'containerd'];
const nvidia: KeyEdit = {
  op: 'set',
  path: [...cri, 'runtimes', 'nvidia'],
  value: { runtime_type: 'io.containerd.runc.v2', options: { BinaryName: '/usr/bin/nvidia-container-runtime' } },
};

const stock = `# kept
version = 2
root = "/var/lib/containerd" # kept too

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    sandbox_image = 'registry.example.com/pause:3.9'
    [plugins."io.containerd.grpc.v1.cri".containerd]
      snapshotter = "overlayfs"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = true

    # about the registry
    [plugins."io.containerd.grpc.v1.cri".registry]
      config_path = "/etc/containerd/certs.d"

[debug]
  uid = 0xFF
`;

test('adds a table after the last one of its family, indented as its siblings are', () => {
  expect(edit(stock, nvidia)).toBe(
    stock.replace(
      '            SystemdCgroup = true\n',
      `            SystemdCgroup = true

        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
          runtime_type = "io.containerd.runc.v2"

          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
            BinaryName = "/usr/bin/nvidia-container-runtime"
`,
    ),
  );
});

test('puts a key of an existing table after its last key', () => {
  const edited = edit(stock, { op: 'set', path: [...cri, 'default_runtime_name'], value: 'nvidia' });
  expect(edited).toBe(
    stock.replace('snapshotter = "overlayfs"\n', 'snapshotter = "overlayfs"\n      default_runtime_name = "nvidia"\n'),
  );
});

test('replaces a value in place and keeps the comment behind it', () => {
  const edited = edit(stock, { op: 'set', path: ['root'], value: '/data' });
  expect(edited).toBe(stock.replace('"/var/lib/containerd" # kept too', '"/data" # kept too'));
});

test('keeps CRLF, the byte order mark and a missing final line end', () => {
  const text = '\uFEFFversion = 2\r\n\r\n[debug]\r\nlevel = "info"';
  expect(edit(text, { op: 'set', path: ['debug', 'uid'], value: 0 })).toBe(`${text}\r\nuid = 0`);
  expect(edit(text, { op: 'set', path: ['a', 'b'], value: true })).toBe(`${text}\r\n\r\n[a]\r\nb = true`);
  expect(edit(text, { op: 'set', path: ['root'], value: '/r' })).toBe(text.replace('2\r\n', '2\r\nroot = "/r"\r\n'));
});

test('makes a file from nothing', () => {
  expect(edit('', { op: 'set', path: ['version'], value: 2 }, nvidia)).toBe(`version = 2

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
`);
});

test('puts a first top-level key above the first table and its comment', () => {
  expect(edit('# licence\n\n# about debug\n[debug]\n', { op: 'set', path: ['version'], value: 2 })).toBe(
    '# licence\n\nversion = 2\n\n# about debug\n[debug]\n',
  );
});

test('extends inline tables and dotted keys in their own form, since headers would be invalid there', () => {
  expect(edit('a = { b = 1 }\n', { op: 'set', path: ['a', 'c'], value: { d: 'x' } })).toBe(
    'a = { b = 1, c = { d = "x" } }\n',
  );
  expect(edit('a = {}\n', { op: 'set', path: ['a', 'c'], value: 1 })).toBe('a = { c = 1 }\n');
  expect(edit('[t]\na.b = 1\nz = 2\n', { op: 'set', path: ['t', 'a', 'c'], value: 3 })).toBe(
    '[t]\na.b = 1\na.c = 3\nz = 2\n',
  );
});

test('appends to lists in their own layout, and never twice', () => {
  const glob: KeyEdit = { op: 'append', path: ['imports'], value: '/etc/x/*.toml' };
  expect(edit('imports = ["a"]\n', glob)).toBe('imports = ["a", "/etc/x/*.toml"]\n');
  expect(edit('imports = []\n', glob)).toBe('imports = ["/etc/x/*.toml"]\n');
  expect(edit('imports = [\n  "a", # why\n]\n', glob)).toBe('imports = [\n  "a", # why\n  "/etc/x/*.toml",\n]\n');
  expect(edit('imports = [\n  "a" # why\n]\n', glob)).toBe('imports = [\n  "a", # why\n  "/etc/x/*.toml"\n]\n');
  expect(edit('imports = [\n  "a"]\n', glob)).toBe('imports = [\n  "a",\n  "/etc/x/*.toml"]\n');
  expect(edit('version = 2\n', glob)).toBe('version = 2\nimports = ["/etc/x/*.toml"]\n');
  expect(edit('imports = ["/etc/x/*.toml"]\n', glob)).toBe('imports = ["/etc/x/*.toml"]\n');
});

test('removes keys, members and tables with what is below them', () => {
  expect(edit('a = 1\nb = 2 # x\nc = 3\n', { op: 'remove', path: ['b'] })).toBe('a = 1\nc = 3\n');
  expect(edit('t = { a = 1, b = 2, c = 3 }\n', { op: 'remove', path: ['t', 'b'] })).toBe('t = { a = 1, c = 3 }\n');
  expect(edit('t = { a = 1, b = 2 }\n', { op: 'remove', path: ['t', 'a'] })).toBe('t = { b = 2 }\n');
  expect(edit(edit(stock, nvidia), { op: 'remove', path: nvidia.path })).toBe(stock);
});

test('copies a table with all its keys, integers and floats apart', () => {
  const edited = edit('[a.runc]\nx = 0x10\ny = 1.0\n[a.runc.options]\nz = ["p"]\n', {
    op: 'copy',
    from: ['a', 'runc'],
    path: ['a', 'nvidia'],
  });
  expect(edited).toContain('[a.nvidia]\nx = 16\ny = 1.0\n');
  expect(edited).toContain('[a.nvidia.options]\nz = ["p"]\n');
});

test.each([
  ['a scalar where a table is needed', 'plugins = "x"\n', nvidia, 'edit_conflict'],
  ['a list written as a string', 'imports = "x"\n', { op: 'append', path: ['imports'], value: 'y' }, 'edit_conflict'],
  ['an array of tables', '[[plugins]]\n', nvidia, 'edit_conflict'],
  ['broken TOML', 'a = \n', nvidia, 'config_invalid'],
  ['a table given twice', '[a]\n[a]\n', nvidia, 'config_invalid'],
] satisfies [string, string, KeyEdit, string][])('refuses %s', (_, text, given, because) => {
  expect(editToml(text, [given])).toMatchObject({ ok: false, because });
});

const name = fc.constantFrom('a', 'b', 'c', 'x.y', 'plugins', 'runc');
const path = fc.array(name, { minLength: 1, maxLength: 4 });
const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.string({ unit: 'grapheme', maxLength: 8 }));
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 3 }));
const anyEdit: fc.Arbitrary<KeyEdit> = fc.oneof(
  fc.record({ op: fc.constant('set' as const), path, value }),
  fc.record({ op: fc.constant('remove' as const), path }),
  fc.record({ op: fc.constant('append' as const), path, value: scalar }),
  fc.record({ op: fc.constant('copy' as const), from: path, path }),
);
const line = fc.oneof(
  fc.constantFrom('', '# note', '  # deeper', '[zz.t]', '[[rows]]', 'k0 = 0xFF # hex', 'k1 = [\n  1, # one\n  2\n]'),
  fc.tuple(path, scalar).map(([p, v]) => `${p.map((n) => JSON.stringify(n)).join('.')} = ${JSON.stringify(v)}`),
  path.map((p) => `[${p.map((n) => JSON.stringify(n)).join('.')}]`),
);
const document = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, eol, ended]) => lines.join('\n').replaceAll('\n', eol) + (ended && lines.length > 0 ? eol : ''))
  .filter((text) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  });

test('any edit of any document either is refused or reads as intended, and doing it twice changes nothing more', () => {
  fc.assert(
    fc.property(document, fc.array(anyEdit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      const once = editToml(text, edits);
      if (!once.ok) {
        expect(once).toMatchObject({ because: 'edit_conflict' });
        return;
      }
      // A copy after a removal of its target is by design not repeatable; each edit alone is.
      const [first] = edits;
      const single = first ? editToml(text, [first]) : once;
      if (single.ok) expect(first && editToml(single.text, [first])).toEqual(single);
    }),
    { numRuns: 1_500 },
  );
});

test('lines that an edit does not own survive in their order', () => {
  fc.assert(
    fc.property(document, fc.tuple(fc.constantFrom('new', 'plugins'), name), value, (text, [head, tail], given) => {
      const edited = editToml(text, [{ op: 'set', path: [head, tail, 'ours'], value: given }]);
      if (!edited.ok || text.includes('ours')) return;
      const kept = edited.text.split(/\r?\n/);
      let from = 0;
      for (const old of text.split(/\r?\n/)) {
        const at = kept.findIndex(
          (candidate, index) => index >= from && candidate.startsWith(old.replace(/\s*}$/, '')),
        );
        expect(at, `${JSON.stringify(old)} in ${JSON.stringify(edited.text)}`).toBeGreaterThanOrEqual(0);
        from = old === '' ? from : at + 1;
      }
    }),
    { numRuns: 500 },
  );
});
