import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HostTree } from './host-contract.ts';

/** Puts a tree of the contract suite on the disk below `top`. */
export async function writeTree(top: string, tree: HostTree): Promise<void> {
  for (const [path, { contents, mode, symlink: target }] of Object.entries(tree)) {
    const at = join(top, path);
    await mkdir(dirname(at), { recursive: true });
    if (target !== undefined) {
      await symlink(target, at);
    } else {
      await writeFile(at, contents ?? '');
      await chmod(at, mode ?? 0o644);
    }
  }
}
