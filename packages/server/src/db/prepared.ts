import type { Db } from './database.ts';

const caches = new WeakMap<Db, Map<string, unknown>>();

/**
 * A prepared statement, built once for each connection and key: an unprepared statement costs thirty times as much.
 * `key` is unique in the program, e.g. `hosts.by_id`; values come in through `sql.placeholder`.
 */
export function prepared<T>(db: Db, key: string, build: (db: Db) => T): T {
  let cache = caches.get(db);
  if (!cache) {
    cache = new Map();
    caches.set(db, cache);
  }
  // A key always belongs to the same `build`, so what lies under it is what that build made.
  let statement = cache.get(key) as T | undefined;
  if (statement === undefined) {
    statement = build(db);
    cache.set(key, statement);
  }
  return statement;
}
