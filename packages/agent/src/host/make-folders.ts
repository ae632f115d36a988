import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, HostFault } from './errno.ts';

/**
 * Makes a folder and those above it where they are missing; gives the ones it made, outermost first. Not Node's
 * recursive mkdir: where nothing can be made, as in /proc, that one tries for ever.
 */
export async function makeFolders(folder: string, mode = 0o777): Promise<string[]> {
  if (await isMade(folder, mode)) return [folder];
  if (await isFolder(folder)) return [];
  const above = await makeFolders(dirname(folder), mode);
  if (await isMade(folder, mode)) return [...above, folder];
  if (await isFolder(folder)) return above;
  throw new HostFault('ENOENT', `${folder} cannot be made there`);
}

/** false: there is something of that name, or no folder to make it in. */
async function isMade(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, mode);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' || (code === 'ENOENT' && dirname(folder) !== folder)) return false;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  throw new HostFault('ENOTDIR', `${path} is not a folder`);
}
