import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writePrivately } from './write-privately.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-private-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the file is for its owner alone and nothing is left beside it', () => {
  writePrivately(join(folder, 'a'), 'one', { replace: true });
  writePrivately(join(folder, 'a'), 'two', { replace: true });
  expect(readdirSync(folder)).toEqual(['a']);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('two');
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o600);
});

test('a file that is there already is kept when it may not be replaced', () => {
  writeFileSync(join(folder, 'a'), 'theirs');
  expect(() => writePrivately(join(folder, 'a'), 'ours', { replace: false })).toThrow('EEXIST');
  expect(readdirSync(folder)).toEqual(['a']);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('theirs');
});

test('what cannot be written leaves nothing behind', () => {
  mkdirSync(join(folder, 'a'));
  expect(() => writePrivately(join(folder, 'a'), 'secret', { replace: true })).toThrow();
  expect(readdirSync(folder)).toEqual(['a']);
});
