import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createFileStateDir } from '../../host/state-dir/index.ts';
import { askAgent } from './client.ts';
import { type Answer, holdStateDir, type Listening, tellEverybody } from './listen.ts';
import { controlPath, statusPath } from './paths.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gpufleet-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  return folder;
}

const answer: Answer = async (request) => ({ type: 'refused', code: 'busy', detail: request.do });

async function hold(folder: string): Promise<Listening> {
  const held = await holdStateDir(folder, createFileStateDir(folder), answer);
  cleanups.push(() => held.close());
  return held;
}

function findProgramsIn(folder: string): void {
  const path = process.env.PATH;
  cleanups.push(() => {
    process.env.PATH = path;
  });
  process.env.PATH = folder;
}

test('one process at a time holds a state folder', async () => {
  const folder = await aFolder();
  const first = await hold(folder);
  await expect(hold(folder)).rejects.toMatchObject({ code: 'already_running' });
  first.close();
  await hold(folder);
});

test('of many that start at the same moment one holds the state folder', async () => {
  const folder = await aFolder();
  const tried = await Promise.allSettled(Array.from({ length: 8 }, () => hold(folder)));
  const refused = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(Array.from({ length: 7 }, () => 'already_running'));
  expect((await askAgent(controlPath(folder), { do: 'status' })).ok).toBe(true);
});

test('says what to install where the program that locks is missing, and holds nothing', async () => {
  const folder = await aFolder();
  findProgramsIn(folder);
  await expect(hold(folder)).rejects.toMatchObject({
    code: 'flock_missing',
    message: expect.stringContaining('install the package util-linux'),
  });
  expect((await askAgent(controlPath(folder), { do: 'status' })).ok).toBe(false);
});

test('a lock that cannot be asked for is no lock that somebody else has', async () => {
  const folder = await aFolder();
  findProgramsIn(folder);
  await writeFile(join(folder, 'flock'), '#!/bin/sh\nexit 71\n', { mode: 0o755 });
  await expect(hold(folder)).rejects.toMatchObject({
    code: 'state_unwritable',
    message: `${folder} cannot be locked: flock ended with 71`,
  });
});

test('a socket that a crash left behind is replaced', async () => {
  const folder = await aFolder();
  await writeFile(join(folder, 'control.sock'), '');
  await hold(folder);
  expect(await askAgent(controlPath(folder), { do: 'status' })).toEqual({
    ok: true,
    answer: { type: 'refused', code: 'busy', detail: 'status' },
  });
});

test('says that nobody listens where nobody does', async () => {
  expect(await askAgent(controlPath(await aFolder()), { do: 'status' })).toEqual({ ok: false, because: 'nobody' });
});

test('answers nonsense with a refusal, and survives who goes away', async () => {
  const folder = await aFolder();
  await hold(folder);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(controlPath(folder));
    socket.on('error', reject);
    socket.on('data', (data) => resolve(data.toString()));
    socket.write('{"do":"format_disk"}\n');
  });
  expect(JSON.parse(text)).toMatchObject({ type: 'refused', code: 'bad_request' });
  connect(controlPath(folder)).destroy();
  expect((await askAgent(controlPath(folder), { do: 'status' })).ok).toBe(true);
});

test('everybody may ask for the status and for nothing else', async () => {
  const folder = await aFolder();
  const path = join(folder, 'status.sock');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const told = await tellEverybody(path, answer, log);
  cleanups.push(() => told?.close());
  expect((await stat(path)).mode & 0o666).toBe(0o666);
  expect(await askAgent(path, { do: 'undo', attemptId: 'a1' })).toMatchObject({ answer: { code: 'forbidden' } });
});

test('runs without a socket for everybody where the folder is missing', async () => {
  const said: string[] = [];
  const log = {
    info: (_fields: unknown, text: string) => said.push(text),
    warn: () => undefined,
    error: () => undefined,
  };
  expect(await tellEverybody(join(await aFolder(), 'no/status.sock'), answer, log)).toBeUndefined();
  expect(said).toEqual(['status is told to root only: no socket for everybody']);
});

test('the sockets have their places', () => {
  expect(statusPath('/var/lib/gpufleet', undefined)).toBe('/run/gpufleet/status.sock');
  expect(statusPath('/srv/other', undefined)).toBeUndefined();
  expect(statusPath('/srv/other', '/run/other')).toBe('/run/other/status.sock');
  expect(() => controlPath(`/${'x'.repeat(120)}`)).toThrow(/too long/);
});
