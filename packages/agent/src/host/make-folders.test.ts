import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolders } from './make-folders.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

test('makes what is missing, and says what that was', async () => {
  const top = temporaryFolder();
  expect(await makeFolders(join(top, 'a/b'), 0o700)).toEqual([join(top, 'a'), join(top, 'a/b')]);
  expect(statSync(join(top, 'a/b')).mode & 0o777).toBe(0o700);
  expect(await makeFolders(join(top, 'a/b/c'))).toEqual([join(top, 'a/b/c')]);
  expect(await makeFolders(join(top, 'a/b'))).toEqual([]);
});

test('ends where nothing can be made', async () => {
  await expect(makeFolders('/proc/gpufleet/state')).rejects.toMatchObject({ code: 'ENOENT' });
  const top = temporaryFolder();
  writeFileSync(join(top, 'file'), '');
  symlinkSync('nowhere', join(top, 'link'));
  await expect(makeFolders(join(top, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolders(join(top, 'file/a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolders(join(top, 'link/a'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(existsSync(join(top, 'nowhere'))).toBe(false);
});
