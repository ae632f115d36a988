import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readText, root } from './repository.ts';
import { judgeRow, statusRowsOf } from './status-rows.ts';

const rows = statusRowsOf(readText('docs/status.md'));
const textOf = (file: string) => (existsSync(join(root, file)) ? readText(file) : undefined);

test('a row that works names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.flatMap((row) => judgeRow(row, textOf))).toEqual([]);
});

test('no capability is listed twice', () => {
  const names = rows.map(({ capability }) => capability);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test.each([
  ['| A | works | no test yet |', ['A: works without a test']],
  ['| A | done | no test yet |', ['A: done is no state']],
  ['| A | partly | |', ['A: neither a test nor “no test yet”']],
  ['| A | works | `test/docs/nothing.test.ts` “a” |', ['A: there is no test file test/docs/nothing.test.ts']],
  ['| A | works | `test/docs/status-rows.ts` “a” |', ['A: there is no test file test/docs/status-rows.ts']],
  ['| A | works | `test/docs/status.test.ts` “a row that” |', ['A: test/docs/status.test.ts has no test “a row that”']],
  ['| A | works | `test/docs/status.test.ts` “no capability is listed twice” |', []],
])('judges %s', (line, problems) => {
  expect(statusRowsOf(line).flatMap((row) => judgeRow(row, textOf))).toEqual(problems);
});
