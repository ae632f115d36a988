import type { FileStat } from '@gpufleet/shared/host';
import { HostFault } from './errno.ts';

/** What is at a path when links are not followed; undefined: nothing. */
export type Found = { type: 'symlink'; target: string } | { type: Exclude<FileStat['type'], 'symlink'> } | undefined;
export type Lookup = (path: string) => Promise<Found>;

export interface Walked {
  /** Without links, `.` and `..`. */
  path: string;
  found: Found;
  /** Trailing names of `path` that do not exist, outermost first; empty when it exists. */
  missing: string[];
}

// As Linux: more links than this on one path are a loop.
const MAX_LINKS = 40;

/**
 * Follows a path through links as the kernel does, with `/` as the top: `..` and absolute targets stay inside.
 * The last name is followed too unless `keepLast` is set. Throws a HostFault for loops and for names below a file.
 */
export async function walkPath(path: string, lookup: Lookup, options?: { keepLast?: boolean }): Promise<Walked> {
  checkAbsolute(path);
  let rest = names(path);
  let at: string[] = [];
  let missing: string[] = [];
  let found: Found = { type: 'dir' };
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '..') {
      if (missing.length > 0) throw new HostFault('ENOENT', `ENOENT: ${path} goes up from a folder that is not there`);
      at = at.slice(0, -1);
      found = { type: 'dir' };
      continue;
    }
    at = [...at, name];
    found = missing.length > 0 ? undefined : await lookup(`/${at.join('/')}`);
    if (found === undefined) {
      missing = [...missing, name];
    } else if (found.type === 'symlink' && (rest.length > 0 || options?.keepLast !== true)) {
      links += 1;
      if (links > MAX_LINKS) throw new HostFault('ELOOP', `ELOOP: too many links on the way to ${path}`);
      at = found.target.startsWith('/') ? [] : at.slice(0, -1);
      rest = [...names(found.target), ...rest];
      found = { type: 'dir' };
    } else if (found.type !== 'dir' && rest.length > 0) {
      throw new HostFault('ENOTDIR', `ENOTDIR: /${at.join('/')} is no folder`);
    }
  }
  return { path: `/${at.join('/')}`, found, missing };
}

/** The same, for paths that must exist. */
export async function walkToExisting(path: string, lookup: Lookup, options?: { keepLast?: boolean }): Promise<Walked> {
  const walked = await walkPath(path, lookup, options);
  if (walked.found === undefined) throw new HostFault('ENOENT', `ENOENT: there is no ${path}`);
  return walked;
}

export function checkAbsolute(path: string): void {
  if (!path.startsWith('/') || path.includes('\0')) {
    throw new HostFault('EIO', `not an absolute path: ${JSON.stringify(path)}`);
  }
}

function names(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
