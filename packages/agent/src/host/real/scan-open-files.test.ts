import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { createRealHost } from './create-real-host.ts';
import { scanOpenFiles } from './scan-open-files.ts';

function processIn(proc: string, pid: number, ...targets: string[]): void {
  mkdirSync(join(proc, String(pid), 'fd'), { recursive: true });
  for (const [fd, target] of targets.entries()) symlinkSync(target, join(proc, String(pid), 'fd', String(fd)));
}

test('finds the files that were asked for, process by process', async () => {
  const proc = temporaryFolder();
  processIn(proc, 12, '/dev/null', '/dev/nvidia0', 'socket:[1]');
  processIn(proc, 7, '/dev/nvidiactl (deleted)');
  mkdirSync(join(proc, 'sys'));
  mkdirSync(join(proc, '9'));
  expect(await scanOpenFiles(proc, ['/dev/nvidia'])).toEqual({
    open: [
      { pid: 7, fd: 0, path: '/dev/nvidiactl' },
      { pid: 12, fd: 1, path: '/dev/nvidia0' },
    ],
    read: [7, 12],
    unread: [],
    complete: true,
  });
});

test('names a process that could not be looked into', async () => {
  const proc = temporaryFolder();
  mkdirSync(join(proc, '5'));
  // A file where the folder should be fails otherwise than a process that has ended.
  symlinkSync('fd', join(proc, '5', 'fd'));
  expect(await scanOpenFiles(proc, ['/dev/'])).toMatchObject({ open: [], read: [], unread: [{ pid: 5 }] });
});

test('looks into this process on this machine', async () => {
  const found = await createRealHost().openFiles(['/dev/null']);
  expect(found.ok && found.value.read).toContain(process.pid);
});
