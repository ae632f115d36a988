import { getSystemErrorMap } from 'node:util';
import type { Read, ReadFailure } from '@gpufleet/shared/host';
import type { Done, EffectFailure } from './host.ts';

/** A failure named as the kernel names it: the one vocabulary between the file code and the port's values. */
export class HostFault extends Error {
  override readonly name = 'HostFault';
  constructor(
    readonly code: FaultCode,
    message: string,
  ) {
    super(message);
  }
}

/** Kernel names, and three of the port's own that have none. */
export type FaultCode =
  | 'EACCES'
  | 'EIO'
  | 'EFBIG'
  | 'EISDIR'
  | 'ELOOP'
  | 'ENOENT'
  | 'ENOTDIR'
  | 'ETIMEDOUT'
  | 'CHANGED'
  | 'NOT_ALLOWED'
  | 'NOT_RECORDED';

const READ_FAILURES: Record<string, ReadFailure> = {
  ENOENT: 'absent',
  // A path that goes on below a file, or a listing of one: there is no such thing.
  ENOTDIR: 'absent',
  EACCES: 'denied',
  EPERM: 'denied',
  EISDIR: 'not_a_file',
  EFBIG: 'too_large',
  ETIMEDOUT: 'timed_out',
  NOT_RECORDED: 'not_recorded',
};

const EFFECT_FAILURES: Record<string, EffectFailure> = {
  ENOENT: 'absent',
  ENOTDIR: 'absent',
  EACCES: 'denied',
  EPERM: 'denied',
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EROFS: 'read_only',
  ETIMEDOUT: 'timed_out',
  CHANGED: 'changed_since_plan',
  NOT_ALLOWED: 'path_not_allowed',
};

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function toReadFailure(code: string): ReadFailure {
  return READ_FAILURES[code] ?? 'io_error';
}

/** Runs a read and turns what the system refused into a value. */
export async function asRead<T>(read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { ok: true, value: await read() };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    return { ok: false, because: toReadFailure(code), detail: detailOf(error) };
  }
}

/** Runs an effect and turns what the system refused into a value. */
export async function asDone(effect: () => Promise<void>): Promise<Done> {
  try {
    await effect();
    return { ok: true };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    return { ok: false, because: EFFECT_FAILURES[code] ?? 'failed', detail: detailOf(error) };
  }
}

/** One line for a person. Node's own message is not used: it names paths outside a prefixed host. */
export function detailOf(error: unknown): string {
  if (error instanceof HostFault) return error.message;
  const code = codeOf(error);
  if (code === undefined) return String(error);
  for (const [name, text] of getSystemErrorMap().values()) {
    if (name === code) return `${code}: ${text}`;
  }
  return code;
}
