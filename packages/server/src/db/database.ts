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
  /**
   * Runs `listener` after each commit in which `signalCommit(tx, topic, …)` was called, with what was signalled. Commits that
   * rolled back signal nothing. The returned function ends it.
   */
  onCommit(topic: string, listener: (details: readonly string[]) => void): () => void;
  stats(): DatabaseStats;
  /** Waits for the writes that were asked for. */
  close(): Promise<void>;
}

export interface DatabaseStats {
  /** Writes that wait now. */
  waiting: number;
  /** Writes done since the start; several may share a commit. */
  writes: number;
  commits: number;
}
