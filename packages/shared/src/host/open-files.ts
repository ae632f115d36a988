import type { HostReader, Read, ReadFailure } from './reader.ts';

/** Which processes have files of certain names open, as the links in /proc/<pid>/fd tell. */
export interface OpenFiles {
  open: { pid: number; fd: number; path: string }[];
  /** Processes whose links were read: none means that nobody knows who holds what. */
  read: number[];
  /** Processes that could not be looked into, by the reason; one that ended meanwhile is not among them. */
  unread: { pid: number; because: ReadFailure }[];
  /** False: there were more processes or links than are looked at. */
  complete: boolean;
}

export const mostProcesses = 32_768;
export const mostLinks = 262_144;

/** What a host does that has no quicker way: the links one by one. */
export async function findOpenFiles(
  host: Pick<HostReader, 'listDir' | 'readLink'>,
  prefixes: readonly string[],
): Promise<Read<OpenFiles>> {
  const listed = await host.listDir('/proc');
  if (!listed.ok) return listed;
  const found: OpenFiles = { open: [], read: [], unread: [], complete: true };
  const pids = listed.value.flatMap(({ name }) => toPid(name) ?? []).sort((a, b) => a - b);
  let links = 0;
  for (const [at, pid] of pids.entries()) {
    if (at >= mostProcesses || links >= mostLinks) return { ok: true, value: { ...found, complete: false } };
    const fds = await host.listDir(`/proc/${pid}/fd`);
    if (!fds.ok) {
      if (fds.because !== 'absent') found.unread.push({ pid, because: fds.because });
      continue;
    }
    found.read.push(pid);
    for (const { name } of fds.value.slice(0, mostLinks - links)) {
      const link = await host.readLink(`/proc/${pid}/fd/${name}`);
      if (link.ok) addIfNamed(found, prefixes, pid, name, link.value);
    }
    links += fds.value.length;
  }
  return { ok: true, value: found };
}

/** A folder of /proc that is a process. */
export function toPid(name: string): number | null {
  return /^[1-9]\d{0,9}$/.test(name) ? Number(name) : null;
}

export function addIfNamed(
  found: OpenFiles,
  prefixes: readonly string[],
  pid: number,
  fd: string,
  target: string,
): void {
  if (!prefixes.some((prefix) => target.startsWith(prefix))) return;
  found.open.push({ pid, fd: Number(fd), path: target.replace(/ \(deleted\)$/, '') });
}
