import { FleetError } from '@gpufleet/shared/core';

/** By SQLite's (extended) result code: our code and what to do about it. The first prefix wins. */
const meanings: readonly [prefix: string, code: string, advice: string][] = [
  ['SQLITE_FULL', 'database_full', 'the disk is full: free some space; nothing of this change was kept'],
  // Its shared memory could not be made longer: that is what a full disk looks like when the store is opened.
  ['SQLITE_IOERR_SHMSIZE', 'database_full', 'the disk is full: free some space'],
  ['SQLITE_IOERR', 'database_io_error', 'the disk does not answer: check the disk and the file system'],
  ['SQLITE_READONLY', 'database_read_only', 'the file cannot be written: check its owner, mode and file system'],
  ['SQLITE_CANTOPEN', 'database_cannot_open', 'check that the folder exists and that this user may write to it'],
  ['SQLITE_PERM', 'database_cannot_open', 'check that this user may write to the file'],
  ['SQLITE_BUSY', 'database_locked', 'another process holds it: stop the other server or tool first'],
  ['SQLITE_LOCKED', 'database_locked', 'another process holds it: stop the other server or tool first'],
  ['SQLITE_NOTADB', 'database_damaged', 'it is not a SQLite file: name another file or restore a backup'],
  ['SQLITE_CORRUPT', 'database_damaged', 'it is damaged: restore a backup'],
];

/** SQLite's operational failures as FleetErrors that say what to do; anything else as it came. */
export function toDatabaseError(path: string, error: unknown): unknown {
  if (error instanceof FleetError) return error;
  const sqliteCode = sqliteCodeOf(error);
  const meaning = meanings.find(([prefix]) => sqliteCode?.startsWith(prefix));
  if (!meaning) return error;
  return new FleetError(meaning[1], `database ${path}: ${meaning[2]}`, { path, sqliteCode }, { cause: error });
}

function sqliteCodeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string' && at.code.startsWith('SQLITE_')) return at.code;
  return undefined;
}
