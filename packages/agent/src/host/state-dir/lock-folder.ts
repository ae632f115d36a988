import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { codeOf } from '../errno.ts';

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Locks a folder for this process, until it ends in whatever way; undefined when another process has it. Node has no
 * flock of its own: the program of that name locks the open file that it is handed, and the lock stays with the file.
 */
export async function lockFolder(folder: string): Promise<FolderLock | undefined> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(join(resolve(folder), 'lock'), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  const isLocked = await flock(handle).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  if (isLocked) return { release: () => handle.close() };
  await handle.close();
  return undefined;
}

function flock(handle: FileHandle): Promise<boolean> {
  return new Promise((done, failed) => {
    const program = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle.fd] });
    program.on('error', (cause) => failed(codeOf(cause) === 'ENOENT' ? flockMissing(cause) : cause));
    program.on('exit', (code) => {
      // 1: somebody has the lock. Anything else says nothing about that, as on a file system without locks.
      if (code === 0 || code === 1) done(code === 0);
      else failed(new Error(`flock ended with ${code ?? 'a signal'}`));
    });
  });
}

function flockMissing(cause: Error): FleetError {
  const remedy = 'install the package util-linux (it holds the state folder for one agent)';
  return new FleetError('flock_missing', `there is no program flock on this host: ${remedy}`, {}, { cause });
}
