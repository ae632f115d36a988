import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readlink, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '@gpufleet/shared/core';
import { asDone, codeOf, HostFault } from '../errno.ts';
import type { Done, Host, WriteFile } from '../host.ts';
import { type Found, walkPath } from '../walk-path.ts';
import { isAllowedPath, isOnAllowedWay } from './allowed-paths.ts';
import { typeOf } from './file-stat.ts';
import { type OpenFolder, openFolder } from './open-folder.ts';
import { readUpTo } from './read-files.ts';
import { removeLeftovers, writeTemporary } from './temporary-file.ts';

/** No configuration file comes near it; a larger one is somebody's mistake. */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

export type FileChanges = Pick<Host, 'mayWrite' | 'writeFile' | 'removeFile' | 'removeEmptyFolder'>;

/** Changes of files below `top`, which stands for `/`. */
export function createFileChanges(clock: Clock, top: string): FileChanges {
  const lookup = (path: string): Promise<Found> => lookAt(join(top, path));
  const resolve = async (path: string, keepLast: boolean): Promise<string> => {
    const walked = await walkPath(path, lookup, { keepLast });
    if (isAllowedPath(walked.path)) return walked.path;
    const leads = walked.path === path ? '' : ` (where ${path} leads)`;
    throw new HostFault('NOT_ALLOWED', `jobs may not write ${walked.path}${leads}`);
  };
  return {
    mayWrite: (path) =>
      inTime(clock, async () => {
        await resolve(path, false);
      }),
    writeFile: (write) =>
      inTime(clock, async (stillWanted) => {
        const target = await resolve(write.path, false);
        const act = (folder: OpenFolder, name: string) => replace(folder, name, write, stillWanted);
        await inFolder(top, target, act, write.newOwner ?? null);
      }),
    removeFile: (path, expectSha256) =>
      inTime(clock, async (stillWanted) => {
        const target = await resolve(path, true);
        const walked = await walkPath(path, lookup);
        if (walked.found === undefined) throw new HostFault('ENOENT', `there is no ${path}`);
        // A link is removed itself, judged by the content that it leads to.
        await inFolder(top, walked.path, async (folder, name) =>
          mustMatch(await look(folder, name), expectSha256, path),
        );
        await inFolder(top, target, async (folder, name) => {
          stillWanted();
          await unlink(folder.at(name));
          await folder.sync();
        });
      }),
    removeEmptyFolder: (path) =>
      inTime(clock, async (stillWanted) => {
        const { path: target } = await walkPath(path, lookup, { keepLast: true });
        if (!isOnAllowedWay(target)) throw new HostFault('NOT_ALLOWED', `jobs may not remove ${target}`);
        await inFolder(top, target, async (folder, name) => {
          stillWanted();
          await rmdir(folder.at(name));
          await folder.sync();
        }).catch(ignoreNotEmptyFolder);
      }),
  };
}

async function replace(folder: OpenFolder, name: string, write: WriteFile, stillWanted: () => void): Promise<void> {
  await removeLeftovers(folder, name);
  const before = await look(folder, name);
  mustMatch(before, write.expectSha256, write.path);
  const { newMode, newOwner } = write;
  const owner = before ?? (newOwner ? { mode: newMode, ...newOwner } : { newMode });
  const temporary = await writeTemporary(folder, name, write.contents, owner);
  try {
    if (!isSame(before, await look(folder, name))) throw changed(write.path);
    stillWanted();
    await rename(folder.at(temporary), folder.at(name));
  } catch (error) {
    await unlink(folder.at(temporary));
    throw error;
  }
  await folder.sync();
}

interface Present {
  sha256: string;
  mode: number;
  uid: number;
  gid: number;
  inode: bigint;
}

/** The regular file of this name; undefined when there is none. */
async function look(folder: OpenFolder, name: string): Promise<Present | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const stats = await lstat(folder.at(name), { bigint: true }).catch(ignoreAbsent);
  if (stats === undefined) return undefined;
  mustBeFile(stats, name);
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = await handle.stat({ bigint: true });
    mustBeFile(opened, name);
    const sha256 = createHash('sha256')
      .update(await readUpTo(handle, LARGEST_FILE_BYTES))
      .digest('hex');
    const [mode, uid, gid] = [Number(opened.mode & 0o7777n), Number(opened.uid), Number(opened.gid)];
    return { sha256, mode, uid, gid, inode: opened.ino };
  } finally {
    await handle.close();
  }
}

function mustBeFile(stats: BigIntStats, name: string): void {
  if (!stats.isFile()) throw new HostFault('EISDIR', `${name} is not a regular file`);
}

function mustMatch(present: Present | undefined, expectSha256: string | null, path: string): void {
  if ((present?.sha256 ?? null) !== expectSha256) throw changed(path);
}

function isSame(a: Present | undefined, b: Present | undefined): boolean {
  return a?.inode === b?.inode && a?.sha256 === b?.sha256;
}

function changed(path: string): HostFault {
  return new HostFault('CHANGED', `${path} is not as it was when the change was planned`);
}

async function inFolder(
  top: string,
  target: string,
  act: (folder: OpenFolder, name: string) => Promise<void>,
  newOwner: WriteFile['newOwner'] = null,
): Promise<void> {
  const folder = await openFolder(top, dirname(target), newOwner);
  try {
    await act(folder, basename(target));
  } catch (error) {
    await folder.removeMade();
    throw error;
  } finally {
    await folder.close();
  }
}

/**
 * A change that hangs is left behind with `timed_out`: what became of it must be read from the host. It asks once more
 * just before the step that counts, so that it does not happen long after it was given up.
 */
function inTime(clock: Clock, change: (stillWanted: () => void) => Promise<void>): Promise<Done> {
  const late = new HostFault('ETIMEDOUT', `not done within ${TIMEOUT_MS} ms`);
  let over = false;
  return asDone(
    () =>
      new Promise<void>((resolve, reject) => {
        const cancel = clock.after(TIMEOUT_MS, () => {
          over = true;
          reject(late);
        });
        const stillWanted = (): void => {
          if (over) throw late;
        };
        change(stillWanted).then(resolve, reject).finally(cancel);
      }),
  );
}

export async function lookAt(path: string): Promise<Found> {
  const stats = await lstat(path).catch(ignoreAbsent);
  if (stats === undefined) return undefined;
  const type = typeOf(stats);
  return type === 'symlink' ? { type, target: await readlink(path) } : { type };
}

function ignoreNotEmptyFolder(error: unknown): void {
  // EBUSY: something is mounted there. ENOTDIR: a link, or a file by now.
  if (!['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOTDIR', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
}

function ignoreAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
