import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { FleetError } from '@gpufleet/shared/core';
import Sqlite from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { applicationId, inspectFile, notOurs } from './inspect-file.ts';
import { countMigrations, findMigrationsFolder } from './migrations.ts';
import { toDatabaseError } from './sqlite-error.ts';
import { createWriteQueue } from './write-queue.ts';

const busyTimeoutMs = 2_000;

export interface OpenOptions {
  log?: Logger;
  migrationsFolder?: string;
}

/** Opens (or makes) the store and brings its schema up to date. Throws FleetErrors that say what to do. */
export async function openDatabase(named: string, options: OpenOptions = {}): Promise<Database> {
  const path = inspectFile(named);
  const folder = options.migrationsFolder ?? findMigrationsFolder();
  const opened: Sqlite.Database[] = [];
  try {
    makePrivate(path);
    opened.push(holdLock(path));
    const writer = new Sqlite(path, { timeout: busyTimeoutMs });
    opened.push(writer);
    prepareFile(writer, path, countMigrations(folder));
    const tx = drizzle(writer, { casing: 'snake_case' });
    migrate(tx, { migrationsFolder: folder });
    writer.pragma(`user_version = ${countMigrations(folder)}`);
    const reader = new Sqlite(path, { timeout: busyTimeoutMs, readonly: true });
    opened.push(reader);
    setPragmas(reader);
    const queue = createWriteQueue({ sqlite: writer, tx, path, log: options.log });
    return {
      read: drizzle(reader, { casing: 'snake_case' }),
      write: queue.write,
      onCommit: queue.onCommit,
      stats: queue.stats,
      async close() {
        await queue.end();
        for (const connection of opened.reverse()) connection.close();
      },
    };
  } catch (error) {
    for (const connection of opened.reverse()) connection.close();
    throw toDatabaseError(path, error);
  }
}

/** Takes away what others may do; what the owner may not do stays so. */
function makePrivate(path: string): void {
  for (const file of [path, `${path}.lock`]) {
    try {
      const stat = statSync(file, { throwIfNoEntry: false });
      if (!stat) closeSync(openSync(file, 'ax', 0o600));
      else if ((stat.mode & 0o077) !== 0) chmodSync(file, stat.mode & 0o700);
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error);
      throw new FleetError(
        'database_cannot_open',
        `database ${path}: check that the folder exists and that this user may write to it (${because})`,
        { path },
        { cause: error },
      );
    }
  }
}

/**
 * One server per store: two would each raise the epoch and grant. The lock is a transaction on a file of its own, so the
 * kernel frees it when the process dies, however it dies.
 */
function holdLock(path: string): Sqlite.Database {
  const lock = new Sqlite(`${path}.lock`, { timeout: 200 });
  try {
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    const failure = toDatabaseError(`${path}.lock`, error);
    // Held is the store; anything else is wrong with the lock file itself.
    throw failure instanceof FleetError && failure.code === 'database_locked' ? error : failure;
  }
}

function prepareFile(sqlite: Sqlite.Database, path: string, known: number): void {
  const found = sqlite.pragma('application_id', { simple: true });
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  if (found !== applicationId) {
    const tables = sqlite.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
    if (found !== 0 || tables > 0 || version !== 0) throw notOurs(path);
    // Before any table, so that a cut half-way through leaves a file that is ours.
    sqlite.pragma(`application_id = ${applicationId}`);
  }
  if (version > known)
    throw new FleetError(
      'database_newer',
      `database ${path} was written by a newer gpufleet-server (schema ${version}, this one knows ${known}): start that version or restore a backup`,
      { path, version, known },
    );
  setPragmas(sqlite);
  // Finds out now, not at the first write, that the file is locked or read-only.
  sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
}

function setPragmas(sqlite: Sqlite.Database): void {
  if (!sqlite.readonly) sqlite.pragma('journal_mode = WAL');
  // On every open: a reopened WAL file falls back to NORMAL, and a power cut would lose acknowledged results.
  sqlite.pragma('synchronous = FULL');
  // Pages that change again before the checkpoint are copied once, and a commit of many reports fits into the cache.
  sqlite.pragma('wal_autocheckpoint = 16000');
  sqlite.pragma('cache_size = -64000');
  sqlite.pragma('temp_store = MEMORY');
}
