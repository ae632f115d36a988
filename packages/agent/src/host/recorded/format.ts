import { z } from 'zod';

/** Permission bits in octal, as people write them. */
const Mode = z
  .string()
  .regex(/^[0-7]{3,4}$/, 'a mode is three or four octal digits, e.g. "0644"')
  .transform((text) => Number.parseInt(text, 8));

/**
 * Why the content of a path could not be read. `EFBIG` (larger than the reader's cap) and `not_recorded` (it was seen
 * in a listing, and its content was never read) come from recordings; people write the first three.
 */
export const RecordedFault = z.enum(['EACCES', 'EIO', 'hang', 'EFBIG', 'not_recorded']);
export type RecordedFault = z.infer<typeof RecordedFault>;

/** What a checkout cannot keep of a path. A fault of a folder holds for all below it. */
export const RecordedFile = z.strictObject({
  mode: Mode.optional(),
  uid: z.int().min(0).optional(),
  gid: z.int().min(0).optional(),
  mtimeMs: z.number().optional(),
  /** Where it is not the size of the recorded copy: files of /proc have 0, and not every content is recorded. */
  size: z.int().min(0).optional(),
  /** An explicit null below a folder with EACCES: this one could be read all the same. */
  error: RecordedFault.nullable().optional(),
});
export type RecordedFile = z.infer<typeof RecordedFile>;

/** Path of an output below the recording; '' for no output. */
const OutputPath = z
  .string()
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), 'an output lies below the recording')
  .default('');

export const RecordedCommand = z.strictObject({
  argv: z.array(z.string()).min(1),
  exitCode: z.int().nullable().default(0),
  stdout: OutputPath,
  stderr: OutputPath,
  timedOut: z.boolean().default(false),
  /** The output went over the reader's cap and is not whole. */
  truncated: z.boolean().default(false),
  /** The program is there and could not be started; or nobody recorded what it would say. */
  error: z.enum(['EACCES', 'EIO', 'not_recorded']).nullable().default(null),
});
export type RecordedCommand = z.infer<typeof RecordedCommand>;

/** Of JavaScript's dates. */
const lastMomentMs = 8_640_000_000_000_000;

export const RecordedHost = z.strictObject({
  format: z.literal(1),
  note: z.string().default(''),
  at: z.strictObject({
    nowMs: z.int().min(0).max(lastMomentMs),
    bootId: z.string().min(1),
    uptimeMs: z.int().min(0),
    uid: z.int().min(0).default(0),
    timezone: z.string().default('Etc/UTC'),
  }),
  commands: z.array(RecordedCommand).default([]),
  absent: z.array(z.string()).default([]),
  files: z.record(z.string().startsWith('/'), RecordedFile).default({}),
  net: z
    .array(
      z.strictObject({
        url: z.string(),
        status: z.int().nullable().default(null),
        /** Without a status: why there was no answer (`timed_out` or words). With one: what is wrong with its certificate. */
        error: z.string().nullable().default(null),
        dateMs: z.int().min(0).max(lastMomentMs).nullable().default(null),
      }),
    )
    .default([]),
});
export type RecordedHost = z.infer<typeof RecordedHost>;

/** Stands at NAME.special for what a checkout cannot hold: device nodes, pipes, sockets, and empty folders. */
export const SpecialStub = z.strictObject({
  type: z.enum(['char', 'block', 'fifo', 'socket', 'dir']),
  major: z.int().min(0).optional(),
  minor: z.int().min(0).optional(),
  mode: Mode.optional(),
});
export type SpecialStub = z.infer<typeof SpecialStub>;
export const STUB_ENDING = '.special';
