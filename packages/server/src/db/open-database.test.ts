import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, expect, test } from 'vitest';
import { findingTable } from '../resources/findings/table.ts';
import { hostTable, hostTraitTable } from '../resources/hosts/table.ts';
import type { Database } from './database.ts';
import { findMeta, setMeta } from './meta-store.ts';
import { metaTable } from './meta-table.ts';
import { countMigrations, findMigrationsFolder } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { toDatabaseError } from './sqlite-error.ts';
import { signalCommit } from './write-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpufleet-db-'));
const opened: Database[] = [];
let count = 0;

function aPath(): string {
  count += 1;
  return join(folder, `${count}.sqlite`);
}

async function open(path = aPath()): Promise<Database> {
  const db = await openDatabase(path);
  opened.push(db);
  return db;
}

async function codeOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof FleetError)) throw error;
  expect(error.message).not.toContain('\n');
  return error.code;
}

const put =
  (key: string, value = 'v') =>
  (tx: Database['read']) =>
    tx
      .insert(metaTable)
      .values({ key, value })
      .then(() => key);

async function keysOf(db: Database): Promise<string[]> {
  const rows = await db.read.select({ key: metaTable.key }).from(metaTable).orderBy(metaTable.key);
  return rows.map((row) => row.key);
}

afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a reopened file still syncs every commit', async () => {
  const path = aPath();
  await (await openDatabase(path)).close();
  const db = await open(path);
  await db.write(async (tx) => {
    expect(await tx.get<{ synchronous: number }>(sql`PRAGMA synchronous`)).toEqual({ synchronous: 2 });
    expect(await tx.get<{ journal_mode: string }>(sql`PRAGMA journal_mode`)).toEqual({ journal_mode: 'wal' });
  });
});

test('the file is for its owner alone, also when it was open to others before', async () => {
  const path = aPath();
  await (await openDatabase(path)).close();
  chmodSync(path, 0o644);
  await open(path);
  for (const file of [path, `${path}-wal`, `${path}.lock`]) expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a committed write is read by the other connection', async () => {
  const db = await open();
  await db.write(put('a'));
  expect(await keysOf(db)).toEqual(['a']);
});

test('a body that throws is rolled back alone, and its neighbours in the same commit stay', async () => {
  const db = await open();
  const before = db.stats().commits;
  const outcomes = await Promise.allSettled([
    db.write(put('a')),
    db.write(async (tx) => {
      await put('b')(tx);
      throw new Error('no');
    }),
    db.write(put('c')),
  ]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await keysOf(db)).toEqual(['a', 'c']);
  expect(db.stats().commits - before).toBe(1);
});

test('writes run one after the other in the order asked', async () => {
  const db = await open();
  const order: string[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map((key) =>
      db.write(async (tx) => {
        order.push(`${key} begins`);
        await put(key)(tx);
        order.push(`${key} ends`);
      }),
    ),
  );
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a write inside a write throws instead of waiting for itself', async () => {
  const db = await open();
  await expect(db.write(async () => db.write(put('a')))).rejects.toThrow('inside db.write');
  await db.write(put('b'));
  expect(await keysOf(db)).toEqual(['b']);
});

test('a write that awaits a timer is given up and undone; those beside it are committed', async () => {
  const db = await open();
  const outcomes = await Promise.allSettled([
    db.write(put('a')),
    db.write(async (tx) => {
      await put('b')(tx);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }),
    db.write(put('d')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await keysOf(db)).toEqual(['a', 'd']);
});

test('listeners hear of a commit, and nothing of what was rolled back', async () => {
  const db = await open();
  const heard: (readonly string[])[] = [];
  const end = db.onCommit('things', (details) => heard.push(details));
  await Promise.allSettled([
    db.write(async (tx) => signalCommit(tx, 'things', 'one')),
    db.write(async (tx) => {
      signalCommit(tx, 'things', 'two');
      throw new Error('no');
    }),
    db.write(async (tx) => signalCommit(tx, 'things', 'three')),
  ]);
  end();
  await db.write(async (tx) => signalCommit(tx, 'things', 'four'));
  expect(heard).toEqual([['one', 'three']]);
});

test('a full disk fails the writes of that commit with database_full and loses nothing earlier', async () => {
  const db = await open();
  await db.write(put('a'));
  await db.write(async (tx) => {
    const { page_count: pages } = await tx.get<{ page_count: number }>(sql`PRAGMA page_count`);
    await tx.get(sql.raw(`PRAGMA max_page_count = ${pages}`));
  });
  expect(await codeOf(db.write(put('b', 'x'.repeat(100_000))))).toBe('database_full');
  expect(await keysOf(db)).toEqual(['a']);
  await db.write(async (tx) => tx.get(sql`PRAGMA max_page_count = 1000000`));
  await db.write(put('c'));
  expect(await keysOf(db)).toEqual(['a', 'c']);
});

/** Every file beside `path` with its mode and bytes. */
function traceOf(path: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => join(folder, name).startsWith(path));
  return Object.fromEntries(
    names.map((name) => {
      const file = join(folder, name);
      return [name, `${statSync(file).mode.toString(8)} ${readFileSync(file).toString('base64')}`];
    }),
  );
}

test('another program’s database is refused and left as it was: mode, bytes, log, nothing beside it', async () => {
  const closed = aPath();
  const other = new Sqlite(closed);
  other.exec('CREATE TABLE theirs (x)');
  other.close();
  chmodSync(closed, 0o644);
  const live = aPath();
  const running = new Sqlite(live);
  running.pragma('journal_mode = WAL');
  // Kept out of the main file: only the log has the table.
  running.pragma('wal_autocheckpoint = 0');
  running.exec('CREATE TABLE theirs (x)');
  for (const path of [closed, live]) {
    const before = traceOf(path);
    expect(await codeOf(openDatabase(path))).toBe('database_not_ours');
    expect(traceOf(path)).toEqual(before);
  }
  running.close();
});

test('an empty file, and a SQLite file without anything in it, become a store', async () => {
  const empty = aPath();
  writeFileSync(empty, '');
  const bare = aPath();
  const tool = new Sqlite(bare);
  tool.exec('CREATE TABLE x (y); DROP TABLE x; VACUUM');
  tool.close();
  for (const path of [empty, bare]) {
    const db = await open(path);
    await db.write(put('a'));
    expect(await keysOf(db)).toEqual(['a']);
  }
});

test('a folder in the place of the file is named, and keeps its mode', async () => {
  const path = aPath();
  mkdirSync(path, { mode: 0o755 });
  chmodSync(path, 0o755);
  expect(await codeOf(openDatabase(path))).toBe('database_cannot_open');
  expect(statSync(path).mode & 0o777).toBe(0o755);
});

test('a lock file that is something else is named itself', async () => {
  const path = aPath();
  writeFileSync(`${path}.lock`, 'somebody’s notes '.repeat(100));
  await expect(openDatabase(path)).rejects.toThrow(`${path}.lock`);
});

test('a database of a newer version is refused', async () => {
  const path = aPath();
  await (await openDatabase(path)).close();
  const newer = new Sqlite(path);
  newer.pragma('user_version = 9999');
  newer.close();
  expect(await codeOf(openDatabase(path))).toBe('database_newer');
});

test('a database of the first version is brought up to date, and keeps what it holds', async () => {
  const first = join(folder, 'first-schema');
  cpSync(findMigrationsFolder(), first, { recursive: true });
  const journal = join(first, 'meta', '_journal.json');
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8'));
  writeFileSync(journal, JSON.stringify({ ...rest, entries: entries.slice(0, 1) }));
  const path = aPath();
  const old = await openDatabase(path, { migrationsFolder: first });
  await old.write((tx) => setMeta(tx, 'kept', 'yes'));
  await old.close();
  const before = new Sqlite(path);
  before.exec(`
    INSERT INTO hosts (id, site_id, name, status, public_key, machine_fingerprint, agent_version, capabilities, class, session_epoch, enrolled_at_ms, version)
    VALUES ('h1', 's', 'host-1', 'accepted', 'k', 'm', '0', '[]', '{"gpuModel":"NVIDIA L4","mig":null,"runtime":"docker"}', 0, 1, 1);
    INSERT INTO findings (id, host_id, code, subject, severity, layer, body, first_seen_at_ms, last_seen_at_ms, opened_count)
    VALUES ('f1', 'h1', 'A', '', 'warning', 'host', '{}', 7, 8, 1);`);
  before.close();
  const now = await open(path);
  expect(await findMeta(now.read, 'kept')).toBe('yes');
  const [host] = await now.read.select().from(hostTable);
  expect(host?.class).toMatchObject({ gpuModel: 'NVIDIA L4', toolkitVersion: null, os: null, l4t: null });
  expect(await now.read.select().from(hostTraitTable)).toEqual([
    { hostId: 'h1', key: 'gpu', value: 'NVIDIA L4' },
    { hostId: 'h1', key: 'runtime', value: 'docker' },
  ]);
  const [finding] = await now.read.select().from(findingTable);
  expect(finding).toMatchObject({ openedAtMs: 7, turns: [{ atMs: 7, turn: 'opened', severity: 'warning' }] });
  expect(await now.read.get(sql`PRAGMA user_version`)).toEqual({
    user_version: countMigrations(findMigrationsFolder()),
  });
});

test('a file that is no database is refused', async () => {
  const path = aPath();
  const before = 'hello, this is text\n'.repeat(500);
  writeFileSync(path, before);
  expect(await codeOf(openDatabase(path))).toBe('database_damaged');
  expect(Object.keys(traceOf(path))).toHaveLength(1);
  writeFileSync(path, 'hi');
  expect(await codeOf(openDatabase(path))).toBe('database_damaged');
});

test('a second server on the same file is refused', async () => {
  const path = aPath();
  await open(path);
  expect(await codeOf(openDatabase(path))).toBe('database_locked');
});

test('a second server by another name of the same file is refused', async () => {
  const path = aPath();
  await open(path);
  const link = aPath();
  symlinkSync(path, link);
  expect(await codeOf(openDatabase(link))).toBe('database_locked');
});

test('a tool that holds a write lock is named as the reason', async () => {
  const path = aPath();
  await (await openDatabase(path)).close();
  const tool = new Sqlite(path);
  tool.exec('BEGIN IMMEDIATE');
  expect(await codeOf(openDatabase(path))).toBe('database_locked');
  tool.close();
});

test('a folder that does not exist is named', async () => {
  expect(await codeOf(openDatabase(join(folder, 'missing', 'x.sqlite')))).toBe('database_cannot_open');
});

test('SQLite’s read-only failures say what to check', () => {
  const error = toDatabaseError(
    '/x',
    Object.assign(new Error('attempt to write'), { code: 'SQLITE_READONLY_DIRECTORY' }),
  );
  expect(error).toMatchObject({ code: 'database_read_only', message: expect.stringContaining('/x') });
});

test('a disk that is too full to open the store says so', () => {
  const error = toDatabaseError('/x', Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' }));
  expect(error).toMatchObject({ code: 'database_full', message: expect.stringContaining('free some space') });
});

test('closing waits for the writes that were asked for and takes no more', async () => {
  const path = aPath();
  const db = await openDatabase(path);
  const write = db.write(put('a'));
  await db.close();
  expect(await write).toBe('a');
  await expect(db.write(put('b'))).rejects.toThrow('shutting down');
});
