import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { FleetError } from '@gpufleet/shared/core';
import type { z } from 'zod';
import { detailOf, HostFault } from '../errno.ts';
import { readUpTo } from '../real/read-files.ts';

const largestBytes = 64 * 1024 * 1024;

export function recordedHostInvalid(path: string, why: string, cause?: unknown): FleetError {
  return new FleetError('recorded_host_invalid', `${path}: ${why}`, { path }, { cause });
}

/** Reads a JSON file of a recording; what is wrong with it is said with its path and the place in it. */
export async function readJson<T extends z.ZodType>(path: string, schema: T): Promise<z.infer<T>> {
  const text = await readRecorded(path);
  const parsed = schema.safeParse(parseJson(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw recordedHostInvalid(path, `${issue?.path.join('.') || 'the whole'}: ${issue?.message}`, parsed.error);
}

/** A recording may come from anybody: what it is read from is a file, not too large, and lies in it. */
export async function readRecorded(path: string, within?: string): Promise<string> {
  try {
    if (within !== undefined && !(await realpath(path)).startsWith(`${await realpath(within)}/`))
      throw new HostFault('EACCES', 'it leads out of the recording');
    // Not waiting for the writer of a pipe.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) throw new HostFault('EISDIR', 'it is not a regular file');
      return (await readUpTo(handle, largestBytes)).toString('utf8');
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw recordedHostInvalid(path, detailOf(cause), cause);
  }
}

export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw recordedHostInvalid(path, 'not JSON', cause);
  }
}
