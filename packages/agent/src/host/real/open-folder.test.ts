import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { openFolder } from './open-folder.ts';

test('a link put in the way after the path was resolved is not followed', async () => {
  const top = temporaryFolder();
  mkdirSync(join(top, 'elsewhere'));
  mkdirSync(join(top, 'etc'));
  symlinkSync('../elsewhere', join(top, 'etc/docker'));
  await expect(openFolder(top, '/etc/docker')).rejects.toMatchObject({ code: 'CHANGED' });
  await expect(openFolder(top, '/etc/docker/below')).rejects.toMatchObject({ code: 'CHANGED' });
  expect(readdirSync(join(top, 'elsewhere'))).toEqual([]);
});

test('an open folder stays the same one when its path is given to another', async () => {
  const top = temporaryFolder();
  mkdirSync(join(top, 'a'));
  writeFileSync(join(top, 'a/x'), 'the one that was opened');
  const folder = await openFolder(top, '/a');
  await rename(join(top, 'a'), join(top, 'moved'));
  mkdirSync(join(top, 'a'));
  expect(await readFile(folder.at('x'), 'utf8')).toBe('the one that was opened');
  await folder.close();
});

test('folders that were made are taken away again, those with something in them are not', async () => {
  const top = temporaryFolder();
  const folder = await openFolder(top, '/a/b/c');
  expect(existsSync(join(top, 'a/b/c'))).toBe(true);
  writeFileSync(join(top, 'a/used'), '');
  await folder.removeMade();
  await folder.close();
  expect(readdirSync(join(top, 'a'))).toEqual(['used']);
});
