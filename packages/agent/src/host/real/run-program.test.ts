import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createSystemClock } from '../../clock.ts';
import { runProgram } from './run-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'run-program-'));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (argv: string[], options = {}) => runProgram(createSystemClock(), argv, { timeoutMs: 5_000, ...options });
const sh = (script: string, options = {}) => run(['/bin/sh', '-c', script], options);
const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

test('gives exit code and both outputs, in the C locale, with no input', async () => {
  const ran = await sh('echo "$LC_ALL $LANG"; cat; echo no >&2; exit 3');
  expect(ran).toEqual({
    ok: true,
    value: { exitCode: 3, stdout: 'C C\n', stderr: 'no\n', timedOut: false, truncated: false },
  });
});

test('what is given as input is read to its end, and a program that does not read it is not disturbed', async () => {
  expect(await run(['cat'], { input: '{"kind": "Eviction"}' })).toMatchObject({
    ok: true,
    value: { exitCode: 0, stdout: '{"kind": "Eviction"}' },
  });
  expect(await run(['true'], { input: 'x'.repeat(1_000_000) })).toMatchObject({ ok: true, value: { exitCode: 0 } });
});

test('an argument is never read by a shell', async () => {
  const ran = await run(['printf', '%s', '$(id); *']);
  expect(ran).toMatchObject({ ok: true, value: { stdout: '$(id); *' } });
});

test('an argument that no program can be given is an error of the reading', async () => {
  expect(await run(['echo', 'a\0b'])).toMatchObject({ ok: false, because: 'io_error' });
});

test('a program that does not exist is absent', async () => {
  expect(await run(['no-such-program-here'])).toMatchObject({ ok: false, because: 'absent' });
  expect(await run([])).toMatchObject({ ok: false, because: 'absent' });
});

test('a script whose interpreter is missing is not called absent', async () => {
  const script = join(folder, 'script');
  writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 });
  expect(await run([script])).toMatchObject({ ok: false, because: 'io_error' });
});

test('a file that may not be run is denied', async () => {
  const script = join(folder, 'not-executable');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o644 });
  expect(await run([script])).toMatchObject({ ok: false, because: 'denied' });
});

test('a program ended by a signal has no exit code', async () => {
  expect(await sh('kill -9 $$')).toMatchObject({ ok: true, value: { exitCode: null, timedOut: false } });
});

test('at the time limit the program and what it started are ended, also when they ignore SIGTERM', async () => {
  const pidFile = join(folder, 'pids');
  const startedAtMs = performance.now();
  const script = `trap "" TERM; echo out; (trap "" TERM; sleep 30) & echo $! $$ > ${pidFile}; while :; do sleep 1; done`;
  const ran = await sh(script, { timeoutMs: 300 });
  expect(ran).toMatchObject({ ok: true, value: { exitCode: null, timedOut: true, stdout: 'out\n' } });
  expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  const pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number);
  expect(pids).toHaveLength(2);
  await expect.poll(() => pids.filter(isAlive), { timeout: 2_000 }).toEqual([]);
});

test('a program that finishes in an orderly way at the time limit still counts as timed out', async () => {
  const ran = await sh('trap "exit 0" TERM; while :; do sleep 0.05; done', { timeoutMs: 200 });
  expect(ran).toMatchObject({ ok: true, value: { exitCode: null, timedOut: true } });
});

test('a grandchild that keeps the output open does not hold up the answer', async () => {
  const startedAtMs = performance.now();
  const ran = await sh('sleep 20 & echo $!', { timeoutMs: 10_000 });
  expect(performance.now() - startedAtMs).toBeLessThan(3_000);
  expect(ran).toMatchObject({ ok: true, value: { exitCode: 0, timedOut: false } });
  // It outlives the program on purpose: a daemon that was started must stay.
  const pid = ran.ok ? Number(ran.value.stdout) : 0;
  expect(isAlive(pid)).toBe(true);
  process.kill(pid);
});

test('a program that writes without end is stopped at the cap, and the text is not cut within a character', async () => {
  const ran = await run(['yes', 'ä'], { maxBytes: 1_000 });
  expect(ran).toMatchObject({ ok: true, value: { exitCode: null, truncated: true, timedOut: false } });
  const text = ran.ok ? ran.value.stdout : '';
  expect(Buffer.byteLength(text)).toBeGreaterThan(995);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
  expect(text).toMatch(/^(ä\n)+ä?$/);
});

test('output of just the cap is whole', async () => {
  expect(await sh('printf 12345', { maxBytes: 5 })).toMatchObject({
    ok: true,
    value: { exitCode: 0, stdout: '12345', truncated: false },
  });
});
