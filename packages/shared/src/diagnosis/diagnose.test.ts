import { expect, test } from 'vitest';
import { diagnose } from './diagnose.ts';
import { rules } from './rules/index.ts';

test('rules that share a code, as they ask the same of several engines, share its layer; causes exist, without a circle', () => {
  const codes = [...new Set(rules.map(({ code }) => code))];
  for (const code of codes)
    expect(new Set(rules.filter((rule) => rule.code === code).map(({ layer }) => layer)).size, code).toBe(1);
  const causes = new Map(
    codes.map((code) => [code, rules.filter((r) => r.code === code).flatMap((r) => r.consequenceOf ?? [])]),
  );
  const visit = (code: string, path: string[]): void => {
    expect(path).not.toContain(code);
    for (const cause of causes.get(code) ?? []) {
      expect(codes).toContain(cause);
      visit(cause, [...path, code]);
    }
  };
  for (const code of codes) visit(code, []);
});

test('nothing read at all gives no finding, only what cannot be told, each code once', () => {
  const { findings, cannotTell } = diagnose({});
  expect(findings).toEqual([]);
  expect(cannotTell.map(({ code }) => code)).toEqual([...new Set(rules.map(({ code }) => code))]);
});
