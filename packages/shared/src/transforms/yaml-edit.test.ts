import { expect, test } from 'vitest';
import type { KeyEdit } from '../jobs/step.ts';
import { editYaml } from './yaml-edit.ts';

const runtime: KeyEdit = { op: 'set', path: ['default-runtime'], value: 'nvidia' };

test.each([
  ['makes a file', '', 'default-runtime: nvidia\n'],
  ['adds a line at the end', '# mine\ntls-san:\n  - a # x\n', '# mine\ntls-san:\n  - a # x\ndefault-runtime: nvidia\n'],
  ['replaces a value in place', 'default-runtime: "runc" # was\nx:   1\n', 'default-runtime: nvidia # was\nx:   1\n'],
  ['fills an empty value', 'default-runtime:\nx: 1\n', 'default-runtime: nvidia\nx: 1\n'],
  ['keeps CRLF and a missing line end', 'a: 1\r\nb: |\r\n  text', 'a: 1\r\nb: |\r\n  text\r\ndefault-runtime: nvidia'],
  ['replaces a mapping where our value belongs', 'default-runtime:\n  x: 1\ny: 2\n', 'y: 2\ndefault-runtime: nvidia\n'],
  ['leaves what says so already', "default-runtime: 'nvidia'\n", "default-runtime: 'nvidia'\n"],
])('%s', (_, before, after) => {
  expect(editYaml(before, [runtime])).toEqual({ ok: true, text: after });
});

test('removes a key with its lines', () => {
  const edited = editYaml('a: 1\ndefault-runtime: nvidia\nb:\n  - x\n', [{ op: 'remove', path: ['default-runtime'] }]);
  expect(edited).toEqual({ ok: true, text: 'a: 1\nb:\n  - x\n' });
});

test.each([
  ['a flow mapping', '{a: 1}\n', 'edit_conflict'],
  ['a list', '- a\n', 'config_invalid'],
  ['broken YAML', 'a: [1\n', 'config_invalid'],
])('refuses %s', (_, text, because) => {
  expect(editYaml(text, [runtime])).toMatchObject({ ok: false, because });
});
