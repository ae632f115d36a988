import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withSetUpLock } from '../../scripts/set-up-lock.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('two set-ups in one folder run one after the other, and the second says what it waits for', async () => {
  const path = join(folder, 'lock');
  const order: string[] = [];
  const said: string[] = [];
  const setUp = (name: string) =>
    withSetUpLock(
      path,
      (line: string) => said.push(line),
      async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        order.push(`${name} ends`);
      },
    );
  await Promise.all([setUp('a'), setUp('b')]);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(said).toEqual([expect.stringContaining(`process ${process.pid}`)]);
  expect(existsSync(path)).toBe(false);
});

test('a lock whose holder is gone holds nobody up, and a failing set-up lets go of its own', async () => {
  const path = join(folder, 'lock');
  // No process has this number: the kernel's highest is below it.
  writeFileSync(path, '4194999');
  await withSetUpLock(
    path,
    () => undefined,
    async () => expect(readFileSync(path, 'utf8')).toBe(String(process.pid)),
  );
  const failing = withSetUpLock(
    path,
    () => undefined,
    () => Promise.reject(new Error('no')),
  );
  await expect(failing).rejects.toThrow('no');
  expect(existsSync(path)).toBe(false);
});
