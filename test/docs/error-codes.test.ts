import { Rejection } from '@gpufleet/shared/protocol';
import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../packages/agent/src/commands/context.ts';
import { errorStatus } from '../../packages/server/src/http/error-status.ts';
import { collectCodes, type SourceText } from './collect-codes.ts';
import { productSources, readText } from './repository.ts';

const page = readText('docs/error-codes.md');
const sources = productSources();

/** Rows that begin with a code, by the heading that they stand under. */
function rowsOf(text: string): { section: string; code: string; cells: string[] }[] {
  let section = '';
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) section = line.slice(3);
    const code = /^\| `([a-z][a-z0-9_]*…?)` \|/.exec(line)?.[1];
    return code === undefined ? [] : [{ section, code, cells: line.split('|').map((cell) => cell.trim()) }];
  });
}

/** Every code of the programs that is not on the page, and every code on the page that is not in the programs. */
function compare(text: string, files: readonly SourceText[]): { missing: string[]; stale: string[] } {
  const { errors, reasons } = collectCodes(files);
  const existing = new Set([
    ...errors.keys(),
    ...reasons.keys(),
    ...Object.keys(errorStatus),
    ...Rejection.shape.code.options,
  ]);
  const listed = new Set(rowsOf(text).map(({ code }) => code));
  return {
    missing: [...existing].filter((code) => !listed.has(code)).sort(),
    stale: [...listed].filter((code) => !existing.has(code)).sort(),
  };
}

test('docs/error-codes.md lists every code of the programs, and none that is gone', () => {
  expect(compare(page, sources)).toEqual({ missing: [], stale: [] });
});

test('every row says what it means', () => {
  const thin = rowsOf(page).filter(({ cells }) => cells.slice(2, -1).some((cell) => cell === ''));
  expect(thin).toEqual([]);
});

test('the page names the status that the API answers with', () => {
  const wrong = rowsOf(page)
    .filter(({ section }) => section === 'Answers of the API')
    .filter(({ code, cells }) => String(errorStatus[code]) !== cells[2]);
  expect(wrong).toEqual([]);
  expect(rowsOf(page).filter(({ section }) => section === 'Answers of the API')).toHaveLength(
    Object.keys(errorStatus).length,
  );
});

test('the page names the exit code that the agent ends with', () => {
  const wrong = rowsOf(page)
    .filter(({ section }) => section === 'Commands of gpufleet-agent')
    .filter(({ code, cells }) => String(exitCodeOf(code)) !== cells[2]);
  expect(wrong).toEqual([]);
});

describe('the comparison sees', () => {
  const withMore = (path: string, text: string) => compare(page, [...sources, { path, text }]).missing;

  test.each([
    [
      'a new error over several lines',
      'packages/server/src/a.ts',
      "throw new FleetError(\n  'planted_code',\n  'x',\n);",
    ],
    [
      'an error chosen by a condition',
      'packages/agent/src/a.ts',
      "throw new FleetError(odd ? 'usage' : 'planted_code', 'x');",
    ],
    ['a reason written as a property', 'packages/shared/src/jobs/a.ts', "const a = { because: 'planted_code' };"],
    [
      'a reason given to a helper',
      'packages/agent/src/steps/a.ts',
      "function failed(because: string) {}\nfailed('planted_code');",
    ],
    ['an answer of the HTTP edge', 'packages/server/src/http/a.ts', "const a = { code: 'planted_code' };"],
  ])('%s', (_what, path, text) => {
    expect(withMore(path, text)).toEqual(['planted_code']);
  });

  test('a code on the page that no program has', () => {
    expect(compare(`${page}\n| \`planted_code\` | x | y |\n`, sources).stale).toEqual(['planted_code']);
  });

  test('a code that the page lost', () => {
    expect(compare(page.replace('| `busy` |', '| busy |'), sources).missing).toEqual(['busy']);
  });
});
