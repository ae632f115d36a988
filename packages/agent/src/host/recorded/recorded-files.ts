import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type DirEntry, type FileStat, findOpenFiles } from '@gpufleet/shared/host';
import { asRead, HostFault } from '../errno.ts';
import { sortedEntries } from '../real/file-stat.ts';
import { DEFAULT_MAX_BYTES, type FileReads } from '../real/read-files.ts';
import { type Found, type Walked, walkPath } from '../walk-path.ts';
import type { RecordedHost } from './format.ts';
import { type Entry, indexTree } from './index-tree.ts';
import { createFaults } from './recorded-faults.ts';

export const DEFAULT_MODES: Record<FileStat['type'], number> = {
  file: 0o644,
  dir: 0o755,
  symlink: 0o777,
  char: 0o666,
  block: 0o660,
  fifo: 0o644,
  socket: 0o666,
};

/** The files of a recorded host: the tree below `root`, with what host.json adds to it. */
export async function openRecordedFiles(root: string, { files, at }: RecordedHost): Promise<FileReads> {
  const tree = await indexTree(root);
  const entriesOf = entriesByFolder(tree);
  const faults = createFaults(files);

  const lookup = async (path: string): Promise<Found> => {
    faults.checkWay(path);
    const entry = tree.get(path);
    if (entry === undefined) return undefined;
    return entry.type === 'symlink' ? { type: entry.type, target: entry.target ?? '' } : { type: entry.type };
  };

  const find = async (path: string, options?: { keepLast?: boolean }): Promise<{ walked: Walked; entry: Entry }> => {
    const walked = await walkPath(path, lookup, options);
    const entry = tree.get(walked.path);
    if (entry !== undefined) return { walked, entry };
    // A fault without a file: nothing is known of the path but that it did not answer.
    faults.checkContent(walked.path);
    throw new HostFault('ENOENT', `ENOENT: there is no ${path}`);
  };

  /** For reads of content, where a fault of the link counts as much as one of what it leads to. */
  const findContent = async (path: string): Promise<{ walked: Walked; entry: Entry }> => {
    const found = await find(path);
    faults.checkContent(posix.normalize(path));
    faults.checkContent(found.walked.path);
    return found;
  };

  const toStat = ({ walked, entry }: { walked: Walked; entry: Entry }): FileStat => {
    const known = files[walked.path] ?? {};
    return {
      type: entry.type,
      size: known.size ?? entry.size,
      mode: known.mode ?? entry.mode ?? DEFAULT_MODES[entry.type],
      uid: known.uid ?? 0,
      gid: known.gid ?? 0,
      mtimeMs: known.mtimeMs ?? at.nowMs - at.uptimeMs,
      ...(entry.device ? { device: entry.device } : {}),
    };
  };

  const readContent = async (path: string, encoding: 'utf8' | 'latin1', maxBytes: number): Promise<string> => {
    const { walked, entry } = await findContent(path);
    if (entry.type !== 'file') throw new HostFault('EISDIR', `not a regular file but a ${entry.type}`);
    if (entry.size > maxBytes) throw new HostFault('EFBIG', `more than ${maxBytes} bytes`);
    return await readFile(join(root, walked.path), encoding);
  };

  const list = async (path: string): Promise<DirEntry[]> => {
    const { walked, entry } = await findContent(path);
    if (entry.type !== 'dir') throw new HostFault('ENOTDIR', `not a folder but a ${entry.type}`);
    return sortedEntries(entriesOf.get(walked.path) ?? []);
  };

  const readTarget = async (path: string): Promise<string> => {
    const { entry } = await find(path, { keepLast: true });
    if (entry.target === undefined) throw new HostFault('EISDIR', 'not a link');
    return entry.target;
  };

  const links: Pick<FileReads, 'listDir' | 'readLink'> = {
    listDir: (path) => asRead(() => list(path)),
    readLink: (path) => asRead(() => readTarget(path)),
  };
  return {
    ...links,
    readText: (path, options) => asRead(() => readContent(path, 'utf8', options?.maxBytes ?? DEFAULT_MAX_BYTES)),
    readBytes: (path, options) => asRead(() => readContent(path, 'latin1', options?.maxBytes ?? DEFAULT_MAX_BYTES)),
    stat: (path) => asRead(async () => toStat(await find(path))),
    lstat: (path) => asRead(async () => toStat(await find(path, { keepLast: true }))),
    openFiles: (prefixes) => findOpenFiles(links, prefixes),
  };
}

/** Once for all folders: a host with thousands of processes has a folder for each of them. */
function entriesByFolder(tree: ReadonlyMap<string, Entry>): Map<string, DirEntry[]> {
  const folders = new Map<string, DirEntry[]>();
  for (const [path, { type }] of tree) {
    if (path === '/') continue;
    const folder = posix.dirname(path);
    const entries = folders.get(folder) ?? [];
    folders.set(folder, entries);
    entries.push({ name: posix.basename(path), type });
  }
  return folders;
}
