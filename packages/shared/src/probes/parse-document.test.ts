import { expect, test } from 'vitest';
import { parseJson, parseToml, parseYaml } from './parse-document.ts';

test.each([
  [parseJson, '{\n "proxy": "http://user:hunter2@x",\n}', /^\w+ \(line 3\)$/],
  [parseJson, '{"a": hunter2}', /^\w+ \(line 1\)$/],
  [parseToml, 'a = 1\npassword = hunter2 x\n', /\(line 2\)$/],
  [parseYaml, 'a: b\ntoken: [hunter2\n', /^[A-Z_]+ \(line \d\)$/],
])('names the fault and its line, and never quotes the file', (parse, text, expected) => {
  const parsed = parse(text);
  expect(parsed.ok).toBe(false);
  if (parsed.ok) return;
  expect(parsed.error).toMatch(expected);
  expect(parsed.error).not.toContain('hunter2');
});

test('reads a byte order mark away', () => {
  expect(parseJson('\uFEFF{}')).toEqual({ ok: true, value: {} });
  expect(parseToml('\uFEFFa = 1')).toEqual({ ok: true, value: { a: 1n } });
});

test('refuses a text that is too long to be a configuration', () => {
  expect(parseJson(`"${'x'.repeat(2_000_001)}"`).ok).toBe(false);
});

test('refuses JSON that is nested deeper than any reader walks', () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`;
  expect(parseJson(nested(400)).ok).toBe(true);
  for (const text of [nested(100_000), '['.repeat(200_000)])
    expect(parseJson(text)).toEqual({ ok: false, error: 'nested too deeply' });
  expect(parseYaml(`a: ${'['.repeat(200_000)}`)).toEqual({ ok: false, error: 'nested too deeply' });
  expect(parseToml(`a = ${'['.repeat(20_000)}`)).toEqual({ ok: false, error: 'nested too deeply' });
});

test('refuses YAML that nests without brackets, or names a node a thousand times over', () => {
  for (const text of ['- '.repeat(5_000), '? '.repeat(1_500), 'a: '.repeat(5_000), `${'- !a '.repeat(5_000)}`])
    expect(parseYaml(text)).toEqual({ ok: false, error: 'nested too deeply' });
  expect(parseYaml(`a: &a x\nb: [${'*a,'.repeat(200)}]\n`)).toEqual({ ok: false, error: 'nested too deeply' });
});

test('refuses YAML with keys that are lists or maps: as texts they take twice as long with each level', () => {
  for (const text of ['? [a]\n: b\n', `${'{? '.repeat(50)}a${'}'.repeat(50)}`])
    expect(parseYaml(text)).toEqual({ ok: false, error: 'KEY_IS_NO_SCALAR' });
});

test('sees depth that dots make, and depth behind brackets that are closed in texts only', () => {
  expect(parseToml(`${'a.'.repeat(2_000)}a = 1\n`)).toEqual({ ok: false, error: 'nested too deeply' });
  expect(parseJson(`${'["]", '.repeat(600)}1${']'.repeat(600)}`)).toEqual({ ok: false, error: 'nested too deeply' });
});

test('reads a specification of many devices; and a file with one alias', () => {
  const devices = Array.from(
    { length: 900 },
    (_, at) => `- name: "${at}"\n  containerEdits:\n    env: [A=${at}]\n`,
  ).join('');
  expect(parseYaml(`devices:\n${devices}`).ok).toBe(true);
  expect(parseYaml(`a: &a b\nc: *a\nd: {k: 1, l: 2}\n`)).toEqual({
    ok: true,
    value: { a: 'b', c: 'b', d: { k: 1, l: 2 } },
  });
});
