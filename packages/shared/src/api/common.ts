import { z } from 'zod';

/** RFC 9457 problem details. `code` is stable and listed in the operator guide; `errors` names fields. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
  instance: z.string().optional(),
  requestId: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof Problem>;

export const Id = z.string().min(1).max(64);

/** What a person writes and others read in lists, logs and terminals: one line that cannot pass for several or hide a part. */
export function lineOf(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u, 'one line without control characters');
}

export const Reason = lineOf(500).min(1);

/** Query of every list. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(512).optional(),
});
export type PageQuery = z.infer<typeof PageQuery>;

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** A comma-separated list in a query. */
export const CommaList = z.string().transform((text) => text.split(',').filter((part) => part !== ''));
