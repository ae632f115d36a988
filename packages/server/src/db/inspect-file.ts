import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';

/** `gFlt`: marks the file as ours. */
export const applicationId = 0x67466c74;

const magic = 'SQLite format 3\0';
/** Header of a SQLite file and the head of its first page; the format is fixed: https://sqlite.org/fileformat.html */
const headBytes = 105;
const userVersionAt = 60;
const applicationIdAt = 68;
const pageTypeAt = 100;
const cellCountAt = 103;
const leafTable = 0x0d;

/**
 * Looks at the file before anything is opened, changed or made beside it: SQLite itself would write another program's
 * log into its file and delete it. Returns the file's one real path, so that a link to it is no second store.
 */
export function inspectFile(path: string): string {
  const real = realPathOf(path);
  const stat = statSync(real, { throwIfNoEntry: false });
  if (!stat) return real;
  if (!stat.isFile()) throw refuse(path, 'database_cannot_open', 'it is not a file: name another one');
  if (stat.size > 0) {
    const head = readHead(path, real);
    if (!head.toString('latin1').startsWith(magic))
      throw refuse(path, 'database_damaged', 'it is not a SQLite file: name another file or restore a backup');
    if (isForeign(head, real)) throw notOurs(path);
  }
  try {
    accessSync(real, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw refuse(
      path,
      'database_read_only',
      'the file cannot be written: check its owner, mode and file system',
      error,
    );
  }
  return real;
}

export function notOurs(path: string): FleetError {
  return new FleetError('database_not_ours', `database ${path} belongs to another program: name another file`, {
    path,
  });
}

/** An empty SQLite file, as some tools make it, belongs to nobody yet. */
function isForeign(head: Buffer, path: string): boolean {
  if (head.length < headBytes) return true;
  const id = head.readInt32BE(applicationIdAt);
  if (id === applicationId) return false;
  const isEmpty = head[pageTypeAt] === leafTable && head.readUInt16BE(cellCountAt) === 0;
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return id !== 0 || head.readInt32BE(userVersionAt) !== 0 || !isEmpty || hasLog;
}

function readHead(path: string, real: string): Buffer {
  try {
    const file = openSync(real, 'r');
    try {
      const head = Buffer.alloc(headBytes);
      return head.subarray(0, readSync(file, head, 0, headBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw refuse(path, 'database_cannot_open', 'the file cannot be read: check its owner and mode', error);
  }
}

/** A file that is not there yet has the real path of its folder. */
function realPathOf(path: string): string {
  const whole = resolve(path);
  try {
    if (statSync(whole, { throwIfNoEntry: false })) return realpathSync(whole);
    return join(realpathSync(dirname(whole)), basename(whole));
  } catch (error) {
    throw refuse(path, 'database_cannot_open', 'check that the folder exists and that this user may enter it', error);
  }
}

function refuse(path: string, code: string, advice: string, cause?: unknown): FleetError {
  return new FleetError(code, `database ${path}: ${advice}`, { path }, { cause });
}
