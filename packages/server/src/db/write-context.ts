import type { Db } from './database.ts';

/** The write that runs now on a writer connection. */
export interface WriteContext {
  signals: { topic: string; detail: string }[];
}

/**
 * By writer connection, while a write runs on it. Not an AsyncLocalStorage: on Node 20 that puts a hook on every promise
 * of the process, which shows in every message and every accept.
 */
export const runningWrites = new WeakMap<Db, WriteContext>();

/** Inside `db.write`: tells the listeners of `topic` once, and only if, this write is committed. */
export function signalCommit(tx: Db, topic: string, detail: string): void {
  const context = runningWrites.get(tx);
  if (!context) throw new Error(`signalCommit('${topic}') was called outside db.write`);
  context.signals.push({ topic, detail });
}
