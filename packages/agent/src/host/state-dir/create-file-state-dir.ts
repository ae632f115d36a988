import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { codeOf, detailOf, HostFault } from '../errno.ts';
import { makeFolders } from '../make-folders.ts';
import type { StateDir } from '../state-dir.ts';
import { dropTornLine } from './drop-torn-line.ts';
import { checkLine, completeLines, partsOf } from './state-names.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** State on the disk. Whatever a method that writes has returned from survives a power cut. */
export function createFileStateDir(dir: string): StateDir {
  const top = resolve(dir);
  const pathOf = (name: string): string => join(top, ...partsOf(name));
  // One write after the other: two appends must not both look for a torn line.
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = (name: string, act: (path: string) => Promise<void>): Promise<void> => {
    const path = pathOf(name);
    const turn = queue.then(() => act(path)).catch((error: unknown) => Promise.reject(toStateError(error, path)));
    // Its caller learns of a failure; the next in the queue goes on.
    queue = turn.catch(() => undefined);
    return turn;
  };
  return {
    read: async (name) => readIfThere(pathOf(name)),
    readLines: async (name) => completeLines((await readIfThere(pathOf(name))) ?? ''),
    write: async (name, contents) =>
      inTurn(name, async (path) => {
        await makeOurFolder(top, dirname(path));
        await replaceFile(path, contents);
      }),
    appendLine: async (name, line) => {
      checkLine(name, line);
      await inTurn(name, async (path) => {
        await makeOurFolder(top, dirname(path));
        await appendTo(path, `${line}\n`);
      });
    },
    remove: async (name) =>
      inTurn(name, async (path) => {
        await unlink(path).catch(ignoreAbsent);
        await syncFolder(dirname(path)).catch(ignoreAbsent);
      }),
    list: async (folder) => {
      const path = folder === '' ? top : pathOf(folder);
      const entries = await unlessAbsent(path, readdir(path));
      return (entries ?? []).filter((name) => !name.startsWith('.')).sort();
    },
  };
}

async function replaceFile(path: string, contents: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      await handle.writeFile(contents);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary);
    throw error;
  }
  await syncFolder(dirname(path));
}

async function appendTo(path: string, text: string): Promise<void> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, FILE_MODE);
  try {
    const size = await dropTornLine(handle);
    await handle.appendFile(text).catch((error: unknown) => takeBack(handle, size, error));
    await handle.sync();
    if (size === 0) await syncFolder(dirname(path));
  } finally {
    await handle.close();
  }
}

/** Half a line that a full disk took must not stay: the next reader would take it for a crash. */
async function takeBack(handle: FileHandle, size: number, error: unknown): Promise<never> {
  await handle.truncate(size);
  throw error;
}

async function makeOurFolder(top: string, folder: string): Promise<void> {
  for (const made of await makeFolders(folder, FOLDER_MODE)) await syncFolder(dirname(made));
  if (((await stat(top)).mode & 0o777) === FOLDER_MODE) return;
  // The host's key is in it: a folder that was made by hand or by a package is closed too. One of somebody else's, such
  // as / or /tmp, would be lost to everybody.
  const names = await readdir(top);
  if (names.length > 0 && !names.some((name) => ourNames.test(name)))
    throw new HostFault('EACCES', `${top} holds other things than an agent's state: name a folder of its own`);
  await chmod(top, FOLDER_MODE);
}

const ourNames = /^(identity|enrolling-key|holder|status|quarantine)\.json$|^(attempts|outbox|control\.sock)$/;

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function readIfThere(path: string): Promise<string | undefined> {
  return unlessAbsent(path, readFile(path, 'utf8'));
}

async function unlessAbsent<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading.catch(ignoreAbsent);
  } catch (cause) {
    throw new FleetError('state_unreadable', `could not read ${path}: ${detailOf(cause)}`, { path }, { cause });
  }
}

function toStateError(cause: unknown, path: string): FleetError {
  const code = codeOf(cause);
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new FleetError(
    full ? 'state_full' : 'state_unwritable',
    full ? `no space left to write ${path}` : `could not write ${path}: ${detailOf(cause)}`,
    { path },
    { cause },
  );
}

function ignoreAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
