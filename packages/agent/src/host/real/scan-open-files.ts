import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { addIfNamed, mostLinks, mostProcesses, type OpenFiles, type ReadFailure, toPid } from '@gpufleet/shared/host';
import { codeOf, toReadFailure } from '../errno.ts';

/** As many processes are looked into before other work has its turn. */
const BATCH = 64;

/**
 * The links of every process. Read synchronously, in batches: the kernel answers from memory, and a promise for each
 * of some ten thousand links would cost twenty times as much as the links.
 */
export async function scanOpenFiles(proc: string, prefixes: readonly string[]): Promise<OpenFiles> {
  const found: OpenFiles = { open: [], read: [], unread: [], complete: true };
  const pids = readdirSync(proc).flatMap((name) => toPid(name) ?? []);
  let links = 0;
  for (const [at, pid] of pids.sort((a, b) => a - b).entries()) {
    if (at >= mostProcesses || links >= mostLinks) return { ...found, complete: false };
    if (at % BATCH === BATCH - 1) await setImmediate();
    links += scanProcess(proc, pid, prefixes, found, mostLinks - links);
  }
  return found;
}

/** Looks into one process; gives the number of its links. */
function scanProcess(
  proc: string,
  pid: number,
  prefixes: readonly string[],
  found: OpenFiles,
  mostHere: number,
): number {
  const folder = `${proc}/${pid}/fd`;
  const names = orFailure(() => readdirSync(folder));
  if (!Array.isArray(names)) {
    if (names !== 'absent') found.unread.push({ pid, because: names });
    return 0;
  }
  let isDenied = false;
  for (const name of names.slice(0, mostHere)) {
    const target = orFailure(() => ({ path: readlinkSync(`${folder}/${name}`) }));
    if (typeof target === 'object') addIfNamed(found, prefixes, pid, name, target.path);
    // A link that is not there any more was closed meanwhile.
    else if (target === 'denied') isDenied = true;
  }
  if (isDenied) found.unread.push({ pid, because: 'denied' });
  else found.read.push(pid);
  return names.length;
}

function orFailure<T>(read: () => T): T | ReadFailure {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    // The process has ended since /proc was listed.
    return code === 'ESRCH' ? 'absent' : toReadFailure(code);
  }
}
