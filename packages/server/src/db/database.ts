import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';

/** What storage verbs take: reads inside or outside a transaction look the same. Always `await`ed. */
export type Db = BetterSQLite3Database<Record<string, never>>;

/**
 * The store. Reads use their own connection; every write goes through `write`, one at a time, as BEGIN IMMEDIATE …
 * COMMIT with synchronous=FULL. Inside `write` nothing but the database is awaited. Calling `write` inside `write` throws.
 */
export interface Database {
  readonly read: Db;
  /** Resolves after the commit. A throw inside rolls everything of this call back. */
  write<T>(body: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
