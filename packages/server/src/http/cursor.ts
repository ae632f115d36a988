import { FleetError } from '@gpufleet/shared/core';
import { z } from 'zod';

/** Where a page ended: the sort values of its last row, opaque to callers. */
export function encodeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** The sort values, checked against their schema; undefined without a cursor. */
export function decodeCursor<T extends z.ZodType>(cursor: string | undefined, schema: T): z.output<T> | undefined {
  if (cursor === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new FleetError('bad_cursor', 'the cursor is not one that this list gave', {}, { cause: error });
  }
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Cuts rows that were asked for with `limit + 1` into a page. */
export function toPage<T>(rows: readonly T[], limit: number, sortValues: (row: T) => (string | number)[]): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(sortValues(last)) : null };
}

/** Cursor of lists sorted by one text or number. */
export const TextCursor = z.tuple([z.string()]);
export const NumberCursor = z.tuple([z.number()]);
