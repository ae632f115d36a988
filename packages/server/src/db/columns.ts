import { integer, text } from 'drizzle-orm/sqlite-core';

/** Text id, the primary key of most tables. */
export const id = () => text().primaryKey();
/** Milliseconds since 1970. */
export const atMs = () => integer({ mode: 'number' });
/** A JSON value kept as text. */
export const json = <T>() => text({ mode: 'json' }).$type<T>();
