import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf, lastLine, sum, tallyReport } from '../../scripts/tally.mjs';

const root = join(import.meta.dirname, '../..');

const file = (status: string, ...tests: [fullName: string, status: string][]) => ({
  name: '/repo/test/a.test.ts',
  status,
  message: '',
  assertionResults: tests.map(([fullName, of]) => ({ fullName, status: of })),
});

function tallied(
  files: ReturnType<typeof file>[],
  given: { ci?: boolean; exitCode?: number; allowed?: { test: string; reason: string }[] } = {},
) {
  const report = { testResults: files };
  return tallyReport({ project: 'unit', report, exitCode: 0, allowed: [], ci: true, root: '/repo', ...given });
}

const skipped = [file('passed', ['works', 'passed'], ['needs a daemon', 'skipped'])];
const entry = { test: 'test/a.test.ts > needs a daemon', reason: 'no package for this system' };

test('a skip that is not listed fails with CI=true, and counts as skipped without', () => {
  expect(tallied(skipped)).toEqual({
    passed: 1,
    failed: 1,
    skipped: 0,
    problems: ['skipped without being on the list of allowed skips: test/a.test.ts > needs a daemon'],
  });
  expect(tallied(skipped, { ci: false })).toEqual({ passed: 1, failed: 0, skipped: 1, problems: [] });
});

test('a skip that is listed with a reason counts as skipped; without a reason it allows nothing', () => {
  expect(tallied(skipped, { allowed: [entry] })).toEqual({ passed: 1, failed: 0, skipped: 1, problems: [] });
  expect(tallied(skipped, { allowed: [{ ...entry, reason: '' }] }).failed).toBe(1);
});

test.each(['skipped', 'pending', 'todo', 'disabled'])('a test that is %s did not run: it is a skip', (status) => {
  expect(tallied([file('passed', ['later', status])], { ci: false })).toMatchObject({ passed: 0, skipped: 1 });
});

test('a file that fails before its tests run counts as failed, beside tests that passed as well', () => {
  expect(tallied([file('failed')])).toMatchObject({ passed: 0, failed: 1 });
  expect(tallied([file('failed', ['a', 'passed'])])).toMatchObject({ passed: 1, failed: 1 });
  expect(tallied([file('failed', ['a', 'failed'])])).toMatchObject({ failed: 1, problems: ['test/a.test.ts > a'] });
});

test('a run that ends badly although no test failed counts as failed', () => {
  const { failed, problems } = tallied([file('passed', ['a', 'passed'])], { exitCode: 1 });
  expect(failed).toBe(1);
  expect(problems).toEqual(['the unit run ended with exit code 1 although no test failed: see its output']);
});

test('the last line has its exact form, and a run without a passed test is no success', () => {
  const all = sum([tallied(skipped, { allowed: [entry] }), tallied([file('passed', ['a', 'passed'])])]);
  expect(lastLine(all)).toBe('2 passed, 0 failed, 1 skipped');
  expect(exitCodeOf(all)).toBe(0);
  expect(exitCodeOf(tallied([]))).toBe(1);
  expect(exitCodeOf(tallied([file('failed')]))).toBe(1);
});

test('every skip that is allowed has a reason', () => {
  const allowed: { test: string; reason: string }[] = JSON.parse(
    readFileSync(join(root, 'test/allowed-skips.json'), 'utf8'),
  );
  expect(allowed.filter(({ test, reason }) => !test.includes(' > ') || !reason)).toEqual([]);
});

describe('npm test in a small copy', () => {
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'gpufleet-npm-test-'));
    mkdirSync(join(copy, 'scripts'));
    for (const name of ['test.mjs', 'tally.mjs']) cpSync(join(root, 'scripts', name), join(copy, 'scripts', name));
    put(
      'scripts/bootstrap.mjs',
      `export const root = ${JSON.stringify(copy)};\nexport async function bootstrap() {}\n`,
    );
    put('scripts/check.mjs', 'export const check = async () => true;\n');
    put('package.json', '{"type": "module", "scripts": {"test": "node scripts/test.mjs"}}');
    put('vitest.config.ts', readFileSync(join(root, 'vitest.config.ts'), 'utf8'));
    put('test/allowed-skips.json', JSON.stringify([{ test: 'test/b.test.ts > allowed', reason: 'for once' }]));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    put('test/rules/r.test.ts', `import { expect, test } from 'vitest';\ntest('r', () => expect(1).toBe(1));\n`);
    put('packages/a/src/a.test.ts', `import { expect, test } from 'vitest';\ntest('a', () => expect(1).toBe(1));\n`);
  });
  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  function put(path: string, text: string) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }

  test('closes with the counts of all projects, and a skip that is not listed ends it with 1', () => {
    const skips = ['allowed', 'unlisted'].map((title) => `test('${title}', ({ skip }) => skip('not here'));\n`);
    put('test/b.test.ts', `import { test } from 'vitest';\n${skips.join('')}`);
    const { status, stdout } = spawnSync('npm', ['test', '--silent'], {
      cwd: copy,
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, CI: 'true', VITEST: '' },
    });
    expect({ status, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
      status: 1,
      last: '3 passed, 1 failed, 1 skipped',
    });
    expect(stdout).toContain('skipped without being on the list of allowed skips: test/b.test.ts > unlisted');
  });
});
