import type { Finding } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';
import { foldFindings, type KeptFinding } from './fold-findings.ts';

function aFinding(code: string, subject: string | null = null): Finding {
  return {
    code,
    subject,
    layer: 'engine',
    severity: 'critical',
    summary: code,
    evidence: [],
    remedy: null,
    person: 'look',
    consequenceOf: null,
  };
}

function aKept(code: string, change: Partial<KeptFinding> = {}): KeptFinding {
  return { id: `finding_${code}`, code, subject: '', clearedAtMs: null, openedCount: 1, ...change };
}

test('a finding that was never there opens', () => {
  const changes = foldFindings([], { findings: [aFinding('A')], cannotTell: [] });
  expect(changes).toEqual({ opened: [aFinding('A')], reopened: [], seen: [], cleared: [] });
});

test('a finding that is still there is seen', () => {
  const changes = foldFindings([aKept('A')], { findings: [aFinding('A')], cannotTell: [] });
  expect(changes).toEqual({
    opened: [],
    reopened: [],
    seen: [{ kept: aKept('A'), finding: aFinding('A') }],
    cleared: [],
  });
});

test('a cleared finding that comes back opens again under its old id', () => {
  const kept = aKept('A', { clearedAtMs: 5 });
  const changes = foldFindings([kept], { findings: [aFinding('A')], cannotTell: [] });
  expect(changes.reopened).toEqual([{ kept, finding: aFinding('A') }]);
});

test('a finding that is gone clears, once', () => {
  expect(foldFindings([aKept('A')], { findings: [], cannotTell: [] }).cleared).toEqual([aKept('A')]);
  expect(foldFindings([aKept('A', { clearedAtMs: 5 })], { findings: [], cannotTell: [] }).cleared).toEqual([]);
});

test('a rule that could not tell clears nothing', () => {
  const changes = foldFindings([aKept('A'), aKept('B')], { findings: [], cannotTell: [{ code: 'A', because: 'x' }] });
  expect(changes.cleared).toEqual([aKept('B')]);
});

test('the same code on two subjects is two findings', () => {
  const kept = aKept('A', { subject: 'gpu:1' });
  const changes = foldFindings([kept], { findings: [aFinding('A', 'gpu:2')], cannotTell: [] });
  expect(changes.opened).toEqual([aFinding('A', 'gpu:2')]);
  expect(changes.cleared).toEqual([kept]);
});

test('a diagnosis that lists a finding twice opens it once', () => {
  const changes = foldFindings([], { findings: [aFinding('A'), aFinding('A')], cannotTell: [] });
  expect(changes.opened).toHaveLength(1);
});
