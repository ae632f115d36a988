import { readFile } from 'node:fs/promises';
import { FleetError } from '@gpufleet/shared/core';
import type { z } from 'zod';
import { detailOf } from '../errno.ts';

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

export async function readRecorded(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
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
