import { posix } from 'node:path';
import type { HostReader, Read, ReadFailure } from '@gpufleet/shared/host';
import { asRead, HostFault } from '../errno.ts';
import type { RecordedFault } from '../recorded/format.ts';
import { type Found, walkPath } from '../walk-path.ts';
import type { Seen } from './seen.ts';

/** Failures that a recording must name; the others follow from the tree itself. */
const FAULTS: Partial<Record<ReadFailure, RecordedFault>> = {
  denied: 'EACCES',
  io_error: 'EIO',
  timed_out: 'hang',
  too_large: 'EFBIG',
  not_recorded: 'not_recorded',
};

export function toFault(because: ReadFailure): RecordedFault | undefined {
  return FAULTS[because];
}

/**
 * Walks to a path on the host and remembers every folder and link on the way, so that a replay finds the same way.
 * Gives the path without links; undefined when the host does not let us through.
 */
export async function seePath(
  host: HostReader,
  seen: Seen,
  path: string,
  options?: { keepLast?: boolean },
): Promise<string | undefined> {
  const walked = await asRead(() => walkPath(path, (at) => seeNode(host, seen, at), options));
  return walked.ok ? walked.value.path : undefined;
}

async function seeNode(host: HostReader, seen: Seen, path: string): Promise<Found> {
  Object.assign(seen.paths.get(posix.dirname(path)) ?? {}, { entered: true });
  const known = seen.paths.get(path)?.stat.type;
  const stat = known === 'dir' ? undefined : await host.lstat(path);
  if (stat === undefined) return { type: 'dir' };
  if (!stat.ok) return missing(seen, path, stat);
  if (stat.value.type !== 'symlink') {
    seen.paths.set(path, { ...seen.paths.get(path), stat: stat.value });
    return { type: stat.value.type };
  }
  const link = await host.readLink(path);
  if (!link.ok) return missing(seen, path, link);
  seen.paths.set(path, { ...seen.paths.get(path), stat: stat.value, target: link.value });
  return { type: 'symlink', target: link.value };
}

function missing(seen: Seen, path: string, failed: Extract<Read<never>, { ok: false }>): undefined {
  const fault = toFault(failed.because);
  if (fault === undefined) {
    Object.assign(seen.paths.get(posix.dirname(path)) ?? {}, { searched: true });
    return undefined;
  }
  // That a name cannot be looked up is a fault of its folder; anything else is one of the name.
  seen.faults.set(fault === 'EACCES' ? posix.dirname(path) : path, fault);
  throw new HostFault('EIO', failed.detail);
}
