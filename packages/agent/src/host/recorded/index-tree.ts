import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { codeOf, detailOf, HostFault } from '../errno.ts';
import { type FileType, typeOf } from '../real/file-stat.ts';
import { SpecialStub, STUB_ENDING } from './format.ts';
import { readJson, recordedHostInvalid } from './recorded-host-error.ts';

export interface Entry {
  type: FileType;
  size: number;
  /** Where a link leads. */
  target?: string;
  /** What a stub says. */
  mode?: number;
  device?: { major: number; minor: number };
}

/** Everything below `root`, by its path on the recorded host. A recording without files has no such folder. */
export async function indexTree(root: string): Promise<Map<string, Entry>> {
  const tree = new Map<string, Entry>([['/', { type: 'dir', size: 0 }]]);
  try {
    await mustBeFolder(root);
    await indexFolder(root, '', tree);
  } catch (cause) {
    if (cause instanceof FleetError) throw cause;
    throw recordedHostInvalid(root, detailOf(cause), cause);
  }
  return tree;
}

/** A link would have the machine of whoever opens the recording read in its place. */
async function mustBeFolder(root: string): Promise<void> {
  const stats = await lstat(root).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (stats && !stats.isDirectory()) throw new HostFault('ENOTDIR', `it is not a folder but a ${typeOf(stats)}`);
}

async function indexFolder(root: string, folder: string, tree: Map<string, Entry>): Promise<void> {
  const names = await readdir(join(root, folder)).catch((error: unknown) => {
    if (folder === '' && codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    const path = `${folder}/${name}`;
    const at = join(root, path);
    const stats = await lstat(at);
    if (stats.isFile() && name.endsWith(STUB_ENDING)) {
      tree.set(path.slice(0, -STUB_ENDING.length), toEntry(await readJson(at, SpecialStub)));
    } else if (stats.isSymbolicLink()) {
      tree.set(path, { type: 'symlink', size: stats.size, target: await readlink(at) });
    } else {
      tree.set(path, { type: typeOf(stats), size: stats.isFile() ? stats.size : 0 });
      if (stats.isDirectory()) await indexFolder(root, path, tree);
    }
  }
}

function toEntry({ type, mode, major = 0, minor = 0 }: SpecialStub): Entry {
  const common = { type, size: 0, ...(mode === undefined ? {} : { mode }) };
  return type === 'char' || type === 'block' ? { ...common, device: { major, minor } } : common;
}
