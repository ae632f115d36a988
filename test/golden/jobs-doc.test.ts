import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { JobKind, jobRegistry, renderJobsDoc } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { expectGolden } from './golden-file.ts';

test('docs/jobs.md says what the registry says', () => {
  expectGolden('docs/jobs.md', renderJobsDoc());
});

test('every kind that is carried out has its page', () => {
  const pages = join(import.meta.dirname, '../../packages/shared/src/jobs');
  const kinds = JobKind.options.filter((kind) => jobRegistry[kind] !== null);
  const without = kinds.filter((kind) => !existsSync(join(pages, kind.replaceAll('_', '-'), 'README.md')));
  expect(kinds.length).toBeGreaterThan(3);
  expect(without).toEqual([]);
});
