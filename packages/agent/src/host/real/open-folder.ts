import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rmdir } from 'node:fs/promises';
import { codeOf, HostFault } from '../errno.ts';

/** An open folder: names in it are reached through its descriptor, so nobody can put a link in the way. */
export interface OpenFolder {
  at(name: string): string;
  sync(): Promise<void>;
  /** Takes away the folders that were made on the way, when what they were made for failed. */
  removeMade(): Promise<void>;
  close(): Promise<void>;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder name by name without following links. Node has no openat: a descriptor's entry in /proc/self/fd
 * stands in for it. Missing folders are made (0755), given to `newOwner` where there is one, and made durable.
 */
export async function openFolder(
  top: string,
  path: string,
  newOwner: { uid: number; gid: number } | null = null,
): Promise<OpenFolder> {
  const handles: FileHandle[] = [await open(top, constants.O_RDONLY | constants.O_DIRECTORY)];
  const made: string[] = [];
  // The first handle stays in the list until the folder is closed.
  const last = (): FileHandle => handles[handles.length - 1] as FileHandle;
  const close = async (): Promise<void> => {
    for (const handle of handles.splice(0)) await handle.close();
  };
  const removeMade = async (): Promise<void> => {
    // Innermost first; a folder that somebody else has used by now stays.
    for (const folder of made.splice(0).reverse()) await rmdir(folder).catch(ignoreInUse);
  };
  try {
    for (const name of path.split('/').filter((part) => part !== '')) {
      const entry = entryOf(last(), name);
      const next = await open(entry, FOLDER).catch(async (error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
        await mkdir(entry, 0o755);
        made.push(entry);
        await last().sync();
        const folder = await open(entry, FOLDER);
        handles.push(folder);
        if (newOwner) await folder.chown(newOwner.uid, newOwner.gid);
        return folder;
      });
      if (last() !== next) handles.push(next);
    }
  } catch (error) {
    await removeMade();
    await close();
    throw isLinkInTheWay(error) ? new HostFault('CHANGED', `a link was put on the way to ${path}`) : error;
  }
  return { at: (name) => entryOf(last(), name), sync: () => last().sync(), removeMade, close };
}

function entryOf(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

function isLinkInTheWay(error: unknown): boolean {
  // Linux answers ENOTDIR when O_DIRECTORY and O_NOFOLLOW meet a link.
  return codeOf(error) === 'ELOOP' || codeOf(error) === 'ENOTDIR';
}

function ignoreInUse(error: unknown): void {
  const code = codeOf(error);
  if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
}
