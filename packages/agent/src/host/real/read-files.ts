import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, stat } from 'node:fs/promises';
import type { DirEntry, HostReader } from '@gpufleet/shared/host';
import { asRead, codeOf, HostFault } from '../errno.ts';
import { checkAbsolute } from '../walk-path.ts';
import { type FileType, sortedEntries, toFileStat, typeOf } from './file-stat.ts';
import { scanOpenFiles } from './scan-open-files.ts';
import type { Limited } from './stuck-reads.ts';

export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Where the files of a host lie. */
export interface Place {
  /** The path to give to the kernel. With `keepLast`, a link at the end is not followed. */
  locate(path: string, options?: { keepLast?: boolean }): Promise<string>;
  limited: Limited;
}

export type FileReads = Pick<
  HostReader,
  'readText' | 'readBytes' | 'listDir' | 'stat' | 'lstat' | 'readLink' | 'openFiles'
>;

export function createFileReads({ locate, limited }: Place): FileReads {
  const read = <T>(path: string, keepLast: boolean, from: (located: string) => Promise<T>) =>
    asRead(async () => {
      checkAbsolute(path);
      return await limited(path, async () => from(await locate(path, { keepLast })));
    });
  return {
    readText: (path, options) =>
      read(path, false, (located) => readRegular(located, 'utf8', options?.maxBytes ?? DEFAULT_MAX_BYTES)),
    readBytes: (path, options) =>
      read(path, false, (located) => readRegular(located, 'latin1', options?.maxBytes ?? DEFAULT_MAX_BYTES)),
    listDir: (path) => read(path, false, listEntries),
    stat: (path) => read(path, false, async (located) => toFileStat(await stat(located))),
    lstat: (path) => read(path, true, async (located) => toFileStat(await lstat(located))),
    readLink: (path) => read(path, true, readTarget),
    openFiles: (prefixes) => read('/proc', false, (located) => scanOpenFiles(located, prefixes)),
  };
}

async function readRegular(path: string, encoding: 'utf8' | 'latin1', maxBytes: number): Promise<string> {
  // Looking first: opening a device node can already do something (a watchdog starts to count).
  mustBeRegular(typeOf(await stat(path)));
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    // Looking again: the path may have been given to something else in between.
    mustBeRegular(typeOf(await handle.stat()));
    return (await readUpTo(handle, maxBytes)).toString(encoding);
  } finally {
    await handle.close();
  }
}

/** Reads until the end, not until the size: files of /proc say 0 and files of /sys say 4096. */
export async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) throw new HostFault('EFBIG', `more than ${maxBytes} bytes`);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

function mustBeRegular(type: FileType): void {
  if (type !== 'file') throw new HostFault('EISDIR', `not a regular file but a ${type}`);
}

async function listEntries(path: string): Promise<DirEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return sortedEntries(entries.map((entry) => ({ name: entry.name, type: typeOf(entry) })));
}

async function readTarget(path: string): Promise<string> {
  try {
    return await readlink(path);
  } catch (error) {
    if (codeOf(error) === 'EINVAL') throw new HostFault('EISDIR', 'not a link');
    throw error;
  }
}
