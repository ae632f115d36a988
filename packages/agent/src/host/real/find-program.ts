import { stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

// An agent started without PATH (by hand in a bare environment) still finds the system's programs.
export const SEARCH_PATH = process.env.PATH || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Whether a program's file exists: starting one whose `#!` interpreter is missing fails with ENOENT as well. */
export async function isThere(program: string): Promise<boolean> {
  const places = program.includes('/')
    ? [program]
    : SEARCH_PATH.split(delimiter).map((folder) => join(folder, program));
  const files = await Promise.all(
    places.map((place) =>
      stat(place).then(
        (found) => found.isFile(),
        () => false,
      ),
    ),
  );
  return files.includes(true);
}
