import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, unlink } from 'node:fs/promises';
import { codeOf } from '../errno.ts';
import type { OpenFolder } from './open-folder.ts';

export interface Owner {
  mode: number;
  uid: number;
  gid: number;
}

/**
 * Writes a temporary file beside its target, complete and on the disk, and gives its name. Its name ends in `.tmp`:
 * containerd and CDI load everything in their folders that ends in `.toml`, `.json` or `.yaml`.
 */
export async function writeTemporary(
  folder: OpenFolder,
  name: string,
  contents: string,
  owner: { newMode: number } | Owner,
): Promise<string> {
  const temporary = `.${name}.gpufleet-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(folder.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(contents);
    if ('uid' in owner) {
      const own = await handle.stat();
      // Where the owner cannot be kept this is refused: a file that changes hands is another file.
      if (own.uid !== owner.uid || own.gid !== owner.gid) await handle.chown(owner.uid, owner.gid);
      await handle.chmod(owner.mode);
    } else {
      await handle.chmod(owner.newMode);
    }
    await handle.sync();
  } catch (error) {
    await unlink(folder.at(temporary));
    throw error;
  } finally {
    await handle.close();
  }
  return temporary;
}

/** Removes what writers that were killed left beside this target. */
export async function removeLeftovers(folder: OpenFolder, name: string): Promise<void> {
  for (const entry of await readdir(folder.at('.'))) {
    if (!entry.startsWith(`.${name}.gpufleet-`)) continue;
    const pid = /-(\d+)-[0-9a-f]{12}\.tmp$/.exec(entry)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await unlink(folder.at(entry));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
