import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../db/index.ts';
import { auditTable } from '../resources/audit/table.ts';
import { findFileSigner, openFileSigner } from './file-signer.ts';
import { openPinnedSigner } from './open-pinned-signer.ts';

let stateDir: string;
let otherDir: string;
let db: Database;
beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'gpufleet-pinned-'));
  otherDir = mkdtempSync(join(tmpdir(), 'gpufleet-pinned-'));
  db = await openDatabase(join(stateDir, 'fleet.db'));
});
afterEach(async () => {
  await db.close();
  for (const folder of [stateDir, otherDir]) rmSync(folder, { recursive: true });
});

const open = (folder: string, mayReplace = false) => openPinnedSigner(db, { stateDir: folder, mayReplace, nowMs: 5 });
const refusal = expect.objectContaining({ code: 'signing_key_changed' });

test('the first start binds store and key, and the same key is taken again', async () => {
  const { keyId } = await open(stateDir);
  expect((await open(stateDir)).keyId).toBe(keyId);
});

test('a folder without the key is refused and none is made there', async () => {
  await open(stateDir);
  await expect(open(otherDir)).rejects.toThrow(refusal);
  expect(findFileSigner(otherDir)).toBeUndefined();
});

test('a folder with another key is refused', async () => {
  const { keyId } = await open(stateDir);
  openFileSigner(otherDir);
  await expect(open(otherDir)).rejects.toThrow(refusal);
  expect((await open(stateDir)).keyId).toBe(keyId);
});

test('an operator may replace the key; from then on the old one is refused, and the audit log says so', async () => {
  const before = await open(stateDir);
  const after = await open(otherDir, true);
  expect(after.keyId).not.toBe(before.keyId);
  await expect(open(stateDir)).rejects.toThrow(refusal);
  expect(await db.read.select().from(auditTable)).toMatchObject([
    { action: 'signing_key.replace', before: { keyId: before.keyId }, after: { keyId: after.keyId } },
  ]);
});
