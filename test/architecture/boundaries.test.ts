import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './boundaries.ts';

const root = join(import.meta.dirname, '../..');

function sourceFiles() {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'packages/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = listed.split('\n').filter((path) => path.includes('/src/'));
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

test('no import crosses a boundary', () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(50);
  expect(findViolations(files)).toEqual([]);
});

test.each([
  [
    'shared reaching for the agent by path',
    'packages/shared/src/core/a.ts',
    '../../../agent/src/agent.ts',
    'shared may not import agent',
  ],
  [
    'the agent reaching for the server',
    'packages/agent/src/a.ts',
    '@gpufleet/server/app',
    'agent may not import server',
  ],
  [
    'the server reaching for the agent',
    'packages/server/src/a.ts',
    '../../agent/src/agent.ts',
    'server may not import agent',
  ],
  [
    'shared by a path',
    'packages/agent/src/a.ts',
    '../../shared/src/core/index.ts',
    'another package is imported by its name, not by a path',
  ],
  [
    'the command line reading the protocol',
    'packages/cli/src/a.ts',
    '@gpufleet/shared/protocol',
    'cli imports only the API part of shared',
  ],
  [
    'a resource entered by a side door',
    'packages/server/src/loops/a.ts',
    '../resources/hosts/get-host.ts',
    'resource hosts is entered through its index.ts',
  ],
])('sees %s', (_what, path, specifier, because) => {
  expect(findViolations([{ path, text: `import { x } from '${specifier}';` }])).toEqual([{ path, specifier, because }]);
});

describe('the lint', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'gpufleet-lint-'));
    for (const name of ['biome.json', 'package.json', '.gitignore']) cpSync(join(root, name), join(copy, name));
    cpSync(join(root, 'scripts/lint'), join(copy, 'scripts/lint'), { recursive: true });
    for (const name of ['shared', 'agent', 'server', 'cli']) {
      mkdirSync(join(copy, 'packages', name, 'src'), { recursive: true });
      cpSync(join(root, 'packages', name, 'package.json'), join(copy, 'packages', name, 'package.json'));
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    execFileSync('git', ['init', '-q'], { cwd: copy });
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  function lint(path: string, text: string) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
    const run = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--colors=off', path], {
      cwd: copy,
      encoding: 'utf8',
    });
    rmSync(join(copy, path));
    return { status: run.status, said: run.stdout + run.stderr };
  }

  test('lets an honest file pass', () => {
    expect(
      lint('packages/shared/src/fine.ts', "import { z } from 'zod';\nexport const Name = z.string();\n").status,
    ).toBe(0);
  });

  test.each([
    [
      'a Node built-in in shared',
      'packages/shared/src/a.ts',
      "import { readFileSync } from 'node:fs';\nexport const a = readFileSync;\n",
      'noNodejsModules',
    ],
    ['a clock in shared', 'packages/shared/src/a.ts', 'export const a = Date.now();\n', 'noRestrictedGlobals'],
    ['chance in shared', 'packages/shared/src/a.ts', 'export const a = Math.random();\n', 'chance is handed in'],
    ['chance in the server', 'packages/server/src/a.ts', 'export const a = Math.random();\n', 'chance is handed in'],
    [
      'an undeclared dependency',
      'packages/shared/src/a.ts',
      "import ws from 'ws';\nexport const a = ws;\n",
      'noUndeclaredDependencies',
    ],
    [
      'the operating system outside the Host port',
      'packages/agent/src/jobs/a.ts',
      "import { execa } from 'execa';\nexport const a = execa;\n",
      'noRestrictedImports',
    ],
    [
      'systeminformation outside the Host port',
      'packages/agent/src/collector/a.ts',
      "import * as si from 'systeminformation';\nexport const a = si;\n",
      'noRestrictedImports',
    ],
    [
      'the agent in the server',
      'packages/server/src/a.ts',
      "import { a } from '@gpufleet/agent/x';\nexport const b = a;\n",
      'noRestrictedImports',
    ],
    [
      'the brain in the command line',
      'packages/cli/src/a.ts',
      "import { a } from '@gpufleet/shared/jobs';\nexport const b = a;\n",
      'noRestrictedImports',
    ],
    ['any', 'packages/cli/src/a.ts', 'export const a: any = 1;\n', 'noExplicitAny'],
    [
      'a catch that hides',
      'packages/cli/src/a.ts',
      'export function a() {\n  try {\n    return JSON.parse("");\n  } catch {}\n}\n',
      'noEmptyBlockStatements',
    ],
  ])('refuses %s', (_what, path, text, rule) => {
    const { status, said } = lint(path, text);
    expect(said).toContain(rule);
    expect(status).toBe(1);
  });

  test('refuses an import cycle', () => {
    mkdirSync(join(copy, 'packages/cli/src'), { recursive: true });
    writeFileSync(join(copy, 'packages/cli/src/b.ts'), "import { a } from './a.ts';\nexport const b = () => a;\n");
    const { status, said } = lint('packages/cli/src/a.ts', "import { b } from './b.ts';\nexport const a = () => b;\n");
    rmSync(join(copy, 'packages/cli/src/b.ts'));
    expect(said).toContain('noImportCycles');
    expect(status).toBe(1);
  });
});
