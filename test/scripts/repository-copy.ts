import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** A folder with some of the repository's files, to plant things in. */
export function repositoryCopy(paths: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'gpufleet-copy-'));
  function put(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  return {
    folder,
    put,
    path: (path: string) => join(folder, path),
    /** The packages that are installed here, by a link. */
    linkPackages: () => symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules')),
    /** A program in the folder `bin`, as a shell script. */
    putProgram(name: string, script: string): void {
      put(`bin/${name}`, `#!/bin/sh\n${script}`);
      chmodSync(join(folder, 'bin', name), 0o755);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type RepositoryCopy = ReturnType<typeof repositoryCopy>;
