import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RepositoryCopy, repositoryCopy, root } from './repository-copy.ts';

let copy: RepositoryCopy;
beforeEach(() => {
  copy = repositoryCopy([
    'scripts/check.mjs',
    'scripts/lint',
    'package.json',
    'tsconfig.json',
    'biome.json',
    'vitest.config.ts',
    '.gitignore',
    'packages/shared/package.json',
    'packages/shared/tsconfig.json',
  ]);
  copy.linkPackages();
  copy.put('packages/shared/src/one.ts', 'export const one = 1;\n');
  copy.put(
    'packages/server/src/two.ts',
    `import { createServer } from 'node:http';\n\nexport const two = createServer;\n`,
  );
  copy.put(
    'test/architecture/three.test.ts',
    `import { expect, test } from 'vitest';\n\ntest('stands', () => expect(1).toBe(1));\n`,
  );
  execFileSync('git', ['init', '-q'], { cwd: copy.folder });
});
afterEach(() => copy.remove());

/** `npm run check` on a small tree with the repository's own settings. */
function check() {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'check'], {
    cwd: copy.folder,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, VITEST: '' },
  });
  const lines = stdout.split('\n').filter((line) => /^(ok {4}|FAILED) .* \(\d+\.\d s\)$/.test(line));
  return { status, said: stdout.replaceAll(root, ''), verdicts: lines.map((line) => line.replace(/ \(.*/, '')) };
}

test('npm run check names its four checks and succeeds when there is nothing to say', () => {
  const { status, said, verdicts } = check();
  expect(verdicts, said).toEqual([
    'ok     lint and format',
    'ok     types of shared, alone',
    'ok     types of everything',
    'ok     boundaries',
  ]);
  expect(status).toBe(0);
});

test('a type error, a reach for Node in shared, a bad format and a crossed boundary each fail their check', () => {
  copy.put('packages/server/src/two.ts', `export const two: number = 'two';\n`);
  copy.put('packages/shared/src/one.ts', `export const one = process.pid;\n`);
  copy.put(
    'test/architecture/three.test.ts',
    `import { expect, test } from 'vitest'\n\ntest('stands', () => expect(1).toBe(2));\n`,
  );
  const { status, said, verdicts } = check();
  expect(verdicts, said).toEqual([
    'FAILED lint and format',
    'FAILED types of shared, alone',
    'FAILED types of everything',
    'FAILED boundaries',
  ]);
  expect(said).toContain(`packages/server/src/two.ts(1,14): error TS2322`);
  expect(said).toContain(`packages/shared/src/one.ts(1,20): error TS`);
  expect(status).toBe(1);
});
