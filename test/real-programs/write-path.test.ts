import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundled } from '../../packages/agent/src/host/testing/as-nobody.ts';
import { unpackDebian } from './unpack.ts';

const prefixed = new URL('../../packages/agent/src/host/prefixed/index.ts', import.meta.url).pathname;
const got = await unpackDebian('bookworm', ['strace', 'libunwind8', 'liblzma5']);
const top = realpathSync(mkdtempSync(join(tmpdir(), 'gpufleet-write-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** The calls of a process that lead to the disk, with the path behind each descriptor. */
function traced(root: string, script: string): string[] {
  const log = join(top, 'strace.log');
  const libraries = readdirSync(join(root, 'usr/lib')).map((name) => join(root, 'usr/lib', name));
  const strace = join(root, 'usr/bin/strace');
  const calls =
    'trace=openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,fchmod,ftruncate,truncate';
  const argv = ['-f', '-y', '-qq', '-E', 'LD_LIBRARY_PATH', '-o', log, '-e', calls, process.execPath, bundled(script)];
  const ran = spawnSync(strace, argv, {
    encoding: 'utf8',
    cwd: top,
    env: { ...process.env, LD_LIBRARY_PATH: libraries.join(':') },
  });
  expect(ran.status, ran.stderr).toBe(0);
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('daemon.json') || line.includes(`${top}/etc/docker>`));
}

const write = (expectSha256: string | null, contents: string) => `
  import { createPrefixedHost } from ${JSON.stringify(prefixed)};
  const written = await createPrefixedHost(${JSON.stringify(top)}).writeFile({
    path: '/etc/docker/daemon.json',
    contents: ${JSON.stringify(contents)},
    newMode: 0o644,
    expectSha256: ${JSON.stringify(expectSha256)},
  });
  if (!written.ok) throw new Error(JSON.stringify(written));
`;

test.for([
  ['a new file', null],
  ['a file that is there', '{"debug": false}\n'],
] as const)('%s is on the disk before its name is, and its name before the step is done', ([, before], { skip }) => {
  if (!got.ok) return skip(got.because);
  const folder = join(top, 'etc/docker');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (before !== null) writeFileSync(join(folder, 'daemon.json'), before);
  const sha256 = before === null ? null : createHash('sha256').update(before).digest('hex');
  const calls = traced(got.root, write(sha256, '{"debug": true}\n'));
  const at = (pattern: RegExp) => calls.findIndex((line) => pattern.test(line));
  const order = [
    at(/openat\(.*\.daemon\.json\.gpufleet-[^"]*\.tmp", .*O_CREAT/),
    at(/write\(\d+<[^>]*\.daemon\.json\.gpufleet-[^>]*\.tmp>/),
    at(/fsync\(\d+<[^>]*\.daemon\.json\.gpufleet-[^>]*\.tmp>\)\s*= 0|fsync\(\d+<[^>]*\.tmp> <unfinished/),
    at(/rename\w*\(.*\.daemon\.json\.gpufleet-.*\.tmp".*daemon\.json"/),
    calls.findLastIndex((line) => /fsync\(\d+<[^>]*\/etc\/docker>/.test(line)),
  ];
  expect(order, calls.join('\n')).not.toContain(-1);
  expect(order, calls.join('\n')).toEqual([...order].sort((a, b) => a - b));
  // The file itself is never opened for writing: a reader sees the old text or the new one.
  expect(calls.filter((line) => /openat\(.*[/"]daemon\.json", .*O_(WRONLY|RDWR|TRUNC)/.test(line))).toEqual([]);
  expect(readFileSync(join(folder, 'daemon.json'), 'utf8')).toBe('{"debug": true}\n');
  expect(readdirSync(folder)).toEqual(['daemon.json']);
  expect(existsSync(join(top, 'strace.log'))).toBe(true);
});

test('the trace would show a plain write', ({ skip }) => {
  if (!got.ok) return skip(got.because);
  const script = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(top, 'daemon.json'))}, '{}');`;
  const calls = traced(got.root, script);
  expect(calls.some((line) => /openat\(.*[/"]daemon\.json", .*O_TRUNC/.test(line))).toBe(true);
  expect(calls.some((line) => /fsync|rename/.test(line))).toBe(false);
});
