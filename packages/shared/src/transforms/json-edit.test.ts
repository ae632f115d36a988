import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyEdit } from '../jobs/step.ts';
import { editJson } from './json-edit.ts';

function edit(text: string, ...edits: KeyEdit[]): string {
  const edited = editJson(text, edits);
  if (!edited.ok) throw new Error(`${edited.because}: ${edited.detail}`);
  return edited.text;
}

const nvidia: KeyEdit = {
  op: 'set',
  path: ['runtimes', 'nvidia'],
  value: { path: 'nvidia-container-runtime', args: [] },
};

test('adds a key and leaves number spellings, order and indentation alone', () => {
  const text = '{\n\t"mtu": 1450.0,\n\t"big": 9007199254740993\n}\n';
  expect(edit(text, nvidia)).toBe(
    '{\n\t"mtu": 1450.0,\n\t"big": 9007199254740993,\n\t"runtimes": {\n\t\t"nvidia": {\n\t\t\t"path": "nvidia-container-runtime",\n\t\t\t"args": []\n\t\t}\n\t}\n}\n',
  );
});

test('keeps CRLF and the byte order mark', () => {
  const edited = edit('\uFEFF{\r\n  "debug": true\r\n}\r\n', { op: 'set', path: ['features', 'cdi'], value: true });
  expect(edited).toBe('\uFEFF{\r\n  "debug": true,\r\n  "features": {\r\n    "cdi": true\r\n  }\r\n}\r\n');
});

test.each(['', '  \n', 'null', 'null\n'])('takes %j for an empty object, as dockerd does', (text) => {
  expect(JSON.parse(edit(text, nvidia))).toEqual({
    runtimes: { nvidia: { path: 'nvidia-container-runtime', args: [] } },
  });
});

test('leaves the text untouched when it says so already', () => {
  const text = '{"runtimes":{"nvidia":{"args":[],"path":"nvidia-container-runtime"}}}';
  expect(edit(text, nvidia)).toBe(text);
});

test('merges into an object that exists and removes keys', () => {
  const text = '{"features": {"buildkit": true}, "default-runtime": "nvidia"}';
  const edited = edit(
    text,
    { op: 'set', path: ['features', 'cdi'], value: true },
    { op: 'remove', path: ['default-runtime'] },
  );
  expect(JSON.parse(edited)).toEqual({ features: { buildkit: true, cdi: true } });
});

test.each([
  ['a trailing comma', '{"a": 1,}', 'config_invalid'],
  ['a comment', '{"a": 1} // no', 'config_invalid'],
  ['a second value', '{"a": 1} {"b": 2}', 'config_invalid'],
  ['a list at the top', '[]', 'config_invalid'],
  ['half a file', '{"a": ', 'config_invalid'],
  ['a list where our object belongs', '{"runtimes": []}', 'edit_conflict'],
  ['a null where our object belongs', '{"runtimes": null}', 'edit_conflict'],
  ['our key given twice', '{"runtimes": {}, "runtimes": {}}', 'edit_conflict'],
])('refuses %s', (_, text, because) => {
  expect(editJson(text, [nvidia])).toMatchObject({ ok: false, because });
});

const anyPath = fc.array(fc.constantFrom('a', 'b', 'runtimes', '__proto__', 'constructor'), {
  minLength: 1,
  maxLength: 3,
});
const anyEdit: fc.Arbitrary<KeyEdit> = fc.oneof(
  fc.record({
    op: fc.constant('set' as const),
    path: anyPath,
    value: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>,
  }),
  fc.record({ op: fc.constant('remove' as const), path: anyPath }),
  fc.record({ op: fc.constant('append' as const), path: anyPath, value: fc.integer() }),
);

test('any edit of any document either is refused or reads as intended, and doing it twice changes nothing more', () => {
  const document = fc.tuple(
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 })),
    fc.constantFrom(undefined, 2, '\t'),
  );
  fc.assert(
    fc.property(document, anyEdit, ([value, indent], given) => {
      const once = editJson(JSON.stringify(value, null, indent), [given]);
      if (!once.ok) {
        expect(once).toMatchObject({ because: 'edit_conflict' });
        return;
      }
      expect(editJson(once.text, [given])).toEqual(once);
    }),
    { numRuns: 1_000 },
  );
});
