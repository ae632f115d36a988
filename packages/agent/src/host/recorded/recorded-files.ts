import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { DirEntry, FileStat } from '@gpufleet/shared/host';
import { asRead, HostFault } from '../errno.ts';
import { sortedEntries } from '../real/file-stat.ts';
import { DEFAULT_MAX_BYTES, type FileReads } from '../real/read-files.ts';
import { type Found, type Walked, walkPath } from '../walk-path.ts';
import type { RecordedHost } from './format.ts';
import { indexTree, type Node } from './index-tree.ts';
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
  const nodes = await indexTree(root);
  const faults = createFaults(files);

  const lookup = async (path: string): Promise<Found> => {
    faults.checkWay(path);
    const node = nodes.get(path);
    if (node === undefined) return undefined;
    return node.type === 'symlink' ? { type: node.type, target: node.target ?? '' } : { type: node.type };
  };

  const find = async (path: string, options?: { keepLast?: boolean }): Promise<{ walked: Walked; node: Node }> => {
    const walked = await walkPath(path, lookup, options);
    const node = nodes.get(walked.path);
    if (node !== undefined) return { walked, node };
    // A fault without a file: nothing is known of the path but that it did not answer.
    faults.checkContent(walked.path);
    throw new HostFault('ENOENT', `ENOENT: there is no ${path}`);
  };

  /** For reads of content, where a fault of the link counts as much as one of what it leads to. */
  const findContent = async (path: string): Promise<{ walked: Walked; node: Node }> => {
    const found = await find(path);
    faults.checkContent(posix.normalize(path));
    faults.checkContent(found.walked.path);
    return found;
  };

  const toStat = ({ walked, node }: { walked: Walked; node: Node }): FileStat => {
    const known = files[walked.path] ?? {};
    return {
      type: node.type,
      size: known.size ?? node.size,
      mode: known.mode ?? node.mode ?? DEFAULT_MODES[node.type],
      uid: known.uid ?? 0,
      gid: known.gid ?? 0,
      mtimeMs: known.mtimeMs ?? at.nowMs - at.uptimeMs,
      ...(node.device ? { device: node.device } : {}),
    };
  };

  const readContent = async (path: string, maxBytes: number): Promise<string> => {
    const { walked, node } = await findContent(path);
    if (node.type !== 'file') throw new HostFault('EISDIR', `not a regular file but a ${node.type}`);
    if (node.size > maxBytes) throw new HostFault('EFBIG', `more than ${maxBytes} bytes`);
    return await readFile(join(root, walked.path), 'utf8');
  };

  const list = async (path: string): Promise<DirEntry[]> => {
    const { walked, node } = await findContent(path);
    if (node.type !== 'dir') throw new HostFault('ENOTDIR', `not a folder but a ${node.type}`);
    const entries: DirEntry[] = [];
    for (const [below, { type }] of nodes) {
      if (below !== '/' && posix.dirname(below) === walked.path) entries.push({ name: posix.basename(below), type });
    }
    return sortedEntries(entries);
  };

  const readTarget = async (path: string): Promise<string> => {
    const { node } = await find(path, { keepLast: true });
    if (node.target === undefined) throw new HostFault('EISDIR', 'not a link');
    return node.target;
  };

  return {
    readText: (path, options) => asRead(() => readContent(path, options?.maxBytes ?? DEFAULT_MAX_BYTES)),
    listDir: (path) => asRead(() => list(path)),
    stat: (path) => asRead(async () => toStat(await find(path))),
    lstat: (path) => asRead(async () => toStat(await find(path, { keepLast: true }))),
    readLink: (path) => asRead(() => readTarget(path)),
  };
}
