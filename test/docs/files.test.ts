import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.ts';

test('the changelog has a section for the version of the programs', () => {
  const versions = [
    'package.json',
    ...listFiles('packages', (path) => /^packages\/[a-z]+\/package\.json$/.test(path)),
  ].map((path): unknown => JSON.parse(readText(path)).version);
  expect(new Set(versions).size).toBe(1);
  expect(readText('CHANGELOG.md')).toContain(`\n## ${versions[0]}`);
});

test('the licence is the one that package.json names', () => {
  expect(JSON.parse(readText('package.json')).license).toBe('Apache-2.0');
  expect(readText('LICENSE')).toMatch(/Apache License\s+Version 2\.0/);
});

test('every decision is named by its day', () => {
  const decisions = listFiles('docs/decisions', (path) => path !== 'docs/decisions/README.md');
  expect(decisions.length).toBeGreaterThan(0);
  expect(decisions.filter((path) => !/^docs\/decisions\/\d{4}-\d\d-\d\d-[a-z0-9-]+\.md$/.test(path))).toEqual([]);
});
