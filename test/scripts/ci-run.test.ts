import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RepositoryCopy, repositoryCopy, root } from './repository-copy.ts';

let copy: RepositoryCopy;
beforeEach(() => {
  copy = repositoryCopy([]);
  copy.putProgram('npm', `echo "$PWD|$@|$GPUFLEET_SAMPLES"\n`);
});
afterEach(() => copy.remove());

/** `.ci/run` of a checkout in the folder `checkout`. */
function run() {
  copy.put('checkout/.ci/run', readFileSync(join(root, '.ci/run'), 'utf8'));
  return spawnSync('bash', [copy.path('checkout/.ci/run')], {
    encoding: 'utf8',
    env: { PATH: `${copy.path('bin')}:${process.env.PATH}` },
  });
}

test('runs the test command of the README in the checkout', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toMatch(/^npm test {2,}#/m);
  expect(run()).toMatchObject({ status: 0, stdout: `${copy.path('checkout')}|test|\n` });
});

test('names the captures that lie beside the checkout', () => {
  copy.put('shared/samples/README.md', '');
  expect(run().stdout).toBe(`${copy.path('checkout')}|test|${copy.path('checkout')}/../shared/samples\n`);
});

test('ends as the tests end', () => {
  copy.putProgram('npm', 'exit 1\n');
  expect(run().status).toBe(1);
});
