import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A file for its owner alone: whole and on disk, or not there. `replace: false` throws EEXIST where one is already. A
 * full disk or a cut leaves nothing that would be taken for it at the next start.
 */
export function writePrivately(path: string, text: string, { replace }: { replace: boolean }): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeSynced(temporary, text);
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
