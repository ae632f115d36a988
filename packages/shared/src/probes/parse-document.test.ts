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
