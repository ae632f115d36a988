import { type ChildProcess, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentPath } from '@gpufleet/shared/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { buildProgram, endProgram, startProgram } from '../testing/built-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpufleet-start-'));
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
let program: string;

beforeAll(async () => {
  chmodSync(folder, 0o777);
  program = await buildProgram();
});
afterAll(() => {
  rmSync(program, { force: true });
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
function aStateDir(): string {
  count += 1;
  return join(folder, String(count));
}

function run(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

const allowRoot = isRoot ? ['--allow-root'] : [];

const start = (stateDir: string) => startProgram(program, stateDir);
const stop = (child: ChildProcess) => endProgram(child, 'SIGTERM');

test('the first start makes an admin token for its owner alone, says where, and stops cleanly', async () => {
  const stateDir = aStateDir();
  const { child, url, log } = await start(stateDir);
  const tokenFile = join(stateDir, 'admin-token');
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  const secret = readFileSync(tokenFile, 'utf8').trim();
  const answer = await fetch(`${url}/api/v1/tokens`, { headers: { authorization: `Bearer ${secret}` } });
  expect(await answer.json()).toMatchObject({ items: [{ name: 'first-admin', role: 'admin' }] });
  expect(log()).toContain(tokenFile);
  expect(log()).not.toContain(secret);
  expect(await stop(child)).toBe(0);
});

test('every line of the log is JSON with a level and a message, and no secret is in one', async () => {
  const stateDir = aStateDir();
  const { child, url, log } = await startProgram(program, stateDir, { env: { GPUFLEET_LOG_LEVEL: 'trace' } });
  const admin = readFileSync(join(stateDir, 'admin-token'), 'utf8').trim();
  const planted = 'gft_planted_token_that_must_not_be_logged';
  const call = async (path: string, token: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(`${url}${path}`, body === undefined ? { headers } : { method: 'POST', headers, body });
  };
  await call('/api/v1/sites', planted);
  await call('/api/v1/enroll', planted, '{"publicKey":');
  await call('/api/v1/sites', admin, '{"id":"site-a"}');
  const made = await (await call('/api/v1/enrollment-tokens', admin, '{"siteId":"site-a"}')).json();
  const { token: enrollment } = z.object({ token: z.string() }).parse(made);
  await call('/api/v1/enroll', enrollment, `{"name":"${planted}"}`);
  // A path that an agent dials with a ticket that is none.
  await call(agentPath, planted);
  expect(await stop(child)).toBe(0);
  const lines = log().trimEnd().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(4);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.stringMatching(/./) });
  for (const secret of [planted, admin, enrollment]) expect(log()).not.toContain(secret);
});

test('a second start keeps the token and the key', async () => {
  const stateDir = aStateDir();
  const first = await start(stateDir);
  const before = ['admin-token', 'signing-key.pem'].map((name) => readFileSync(join(stateDir, name), 'utf8'));
  await stop(first.child);
  const second = await start(stateDir);
  expect(['admin-token', 'signing-key.pem'].map((name) => readFileSync(join(stateDir, name), 'utf8'))).toEqual(before);
  expect(await stop(second.child)).toBe(0);
});

test.each([
  [[], 'Usage: gpufleet-server'],
  [['fly'], "unknown command 'fly'"],
  [['start', '--fast'], "unknown option '--fast'"],
  [['start', '--port', 'http', ...allowRoot], '--port must be a whole number 0–65535'],
  [['start', '--log-level', 'loud'], '--log-level'],
])('usage %j exits 2', (argv, words) => {
  const { status, stderr } = run(...argv);
  expect(status).toBe(2);
  expect(stderr).toContain(words);
});

test('--version and --help exit 0', () => {
  expect(run('--version')).toMatchObject({ status: 0, stdout: '0.1.0\n' });
  expect(run('start', '--help').status).toBe(0);
});

/** One line on stderr that says what to do, exit 1. */
function expectOneLine(argv: string[], words: string) {
  const { status, stderr } = run('start', '--port', '0', ...allowRoot, ...argv);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toContain(words);
  expect(status).toBe(1);
}

test('a port in use is one line and exit 1', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  expectOneLine(['--state-dir', aStateDir(), '--port', String(port)], `127.0.0.1:${port} is in use`);
  await new Promise((resolve) => other.close(resolve));
});

test('a database that is none, and one that is another program’s, are one line and exit 1', () => {
  const stateDir = aStateDir();
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, 'fleet.db'), 'text '.repeat(1_000));
  expectOneLine(['--state-dir', stateDir], 'it is not a SQLite file');
  expect(readFileSync(join(stateDir, 'fleet.db'), 'utf8')).toBe('text '.repeat(1_000));
});

test('a second server on the same store is one line and exit 1', async () => {
  const stateDir = aStateDir();
  const { child } = await start(stateDir);
  expectOneLine(['--state-dir', stateDir], 'another process holds it');
  await stop(child);
});

test('a state folder that is not the one of the database is one line and exit 1, and makes no key', async () => {
  const [stateDir, wrong] = [aStateDir(), aStateDir()];
  await stop((await start(stateDir)).child);
  expectOneLine(['--state-dir', wrong, '--database', join(stateDir, 'fleet.db')], 'name the right --state-dir');
  expect(existsSync(join(wrong, 'signing-key.pem'))).toBe(false);
});

test('a folder that cannot be made is one line and exit 1', () => {
  writeFileSync(join(folder, 'a-file'), '');
  expectOneLine(['--state-dir', join(folder, 'a-file', 'state')], 'a-file');
});

test.runIf(isRoot)('root is refused unless allowed', () => {
  const { status, stderr } = run('start', '--state-dir', aStateDir());
  expect([status, stderr]).toEqual([
    1,
    'gpufleet-server: refuses to run as root: use an own user, or say --allow-root\n',
  ]);
});

/** As root every file is writable: a read-only folder is seen only by another user. */
test.runIf(isRoot)('a folder and a store that this user may not write are one line and exit 1', async () => {
  const stateDir = aStateDir();
  const { child } = await start(stateDir);
  await stop(child);
  chmodSync(folder, 0o755);
  chmodSync(stateDir, 0o755);
  for (const name of ['fleet.db', 'signing-key.pem']) chmodSync(join(stateDir, name), 0o644);
  const argv = ['start', '--port', '0', '--state-dir', join(folder, 'new'), '--database', join(stateDir, 'fleet.db')];
  const made = spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8', uid: nobody, gid: nobody });
  expect([made.status, made.stderr.trimEnd().split('\n').length]).toEqual([1, 1]);
  expect(made.stderr).toContain('cannot make');
  const own = mkdtempSync(join(tmpdir(), 'gpufleet-nobody-'));
  chmodSync(own, 0o777);
  const store = ['start', '--port', '0', '--state-dir', own, '--database', join(stateDir, 'fleet.db')];
  const opened = spawnSync(process.execPath, [program, ...store], { encoding: 'utf8', uid: nobody, gid: nobody });
  expect([opened.status, opened.stderr.trimEnd().split('\n').length]).toEqual([1, 1]);
  expect(opened.stderr).toContain('the file cannot be written');
  rmSync(own, { recursive: true, force: true });
  chmodSync(folder, 0o777);
});
