export type { Database, Db } from './database.ts';
export { findMeta, setMeta } from './meta-store.ts';
export { openDatabase } from './open-database.ts';
export { prepared } from './prepared.ts';
export { toJson } from './to-json.ts';
export { signalCommit } from './write-context.ts';
