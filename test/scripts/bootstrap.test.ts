import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeProblem } from '../../scripts/bootstrap.mjs';
import { type RepositoryCopy, repositoryCopy, root } from './repository-copy.ts';

test.each(['18.20.4', '20.0.0', '20.18.9', '8.0.0', '20'])(
  'Node %s is refused with one line that says what to do',
  (version) => {
    expect(nodeProblem(version)).toBe(
      `Node 20.19 or newer is needed, this is ${version}. Install a newer Node and run the command again.`,
    );
  },
);

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0', '100.0.0'])('Node %s will do', (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

test('the oldest Node is the same in package.json', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  expect(nodeProblem(`${oldest}.0`)).toBeUndefined();
  expect(nodeProblem(`20.${Number(oldest.split('.')[1]) - 1}.9`)).toBeDefined();
});

describe('set-up in a copy, with an npm that only notes what it is asked', () => {
  let copy: RepositoryCopy;
  beforeEach(() => {
    copy = repositoryCopy([
      'scripts/bootstrap.mjs',
      'scripts/set-up-lock.mjs',
      'package-lock.json',
      'packages/server/package.json',
    ]);
    copy.put('scripts/build.mjs', `export async function build() { process.stdout.write('built\\n'); }\n`);
    copy.put('calls', '');
    copy.putProgram(
      'npm',
      `echo "$@" >> ${copy.path('calls')}
test -f ${copy.path('npm-fails')} && exit 7
test -e ${copy.path('node_modules')} || /bin/ln -s ${join(root, 'node_modules')} ${copy.path('node_modules')}
`,
    );
  });
  afterEach(() => copy.remove());

  function setUp() {
    const { status, stdout, stderr } = spawnSync(process.execPath, [copy.path('scripts/bootstrap.mjs')], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { PATH: copy.path('bin') },
    });
    return { status, stdout, lines: stderr.trimEnd().split('\n'), calls: callsOf() };
  }
  const callsOf = () => readFileSync(copy.path('calls'), 'utf8').split('\n').filter(Boolean);

  test('installs what the lock file fixes and names the compilers that are missing', () => {
    const { status, stdout, lines, calls } = setUp();
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'built\n' });
    expect(calls).toEqual(['ci --no-audit --no-fund --loglevel=error']);
    expect(lines[0]).toBe(
      'gpufleet: python3, make, g++ not found. If the SQLite driver has to be compiled, install them first (Debian, Ubuntu: apt-get install python3 make g++).',
    );
  });

  test('compilers that are there are not named', () => {
    for (const name of ['python3', 'g++']) copy.putProgram(name, 'exit 0\n');
    expect(setUp().lines[0]).toContain('gpufleet: make not found.');
    expect(readFileSync(copy.path('calls'), 'utf8')).not.toBe('');
  });

  test('nothing is installed twice: with the stamp of this lock file no npm is started and nothing is said', () => {
    setUp();
    expect(setUp()).toMatchObject({ status: 0, stdout: 'built\n', lines: [''], calls: [expect.any(String)] });
    copy.put('package-lock.json', '{"changed": true}');
    expect(setUp().calls).toHaveLength(2);
  });

  test('an install that was interrupted is done again, also for the lock file of before', () => {
    setUp();
    const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
    copy.put('package-lock.json', '{"changed": true}');
    copy.put('npm-fails', '');
    const { status, stdout, lines } = setUp();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(lines.at(-1)).toContain('gpufleet: npm ci ended with exit code 7');
    expect(existsSync(copy.path('.cache/bootstrap/installed'))).toBe(false);
    copy.put('package-lock.json', lock);
    expect(setUp().calls).toHaveLength(3);
  });

  test('a SQLite driver that does not load is one line that says what to do, and no stamp', () => {
    copy.put('node_modules/.keep', '');
    const { status, lines } = setUp();
    expect(status).toBe(1);
    expect(lines.at(-1)).toMatch(
      /^gpufleet: the SQLite driver does not load \(.*\)\. Install python3, make, g\+\+, remove/,
    );
    expect(existsSync(copy.path('.cache/bootstrap/installed'))).toBe(false);
  });
});
