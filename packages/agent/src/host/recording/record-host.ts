import { posix } from 'node:path';
import type { HostMoment, HostReader, OpenFiles, Read } from '@gpufleet/shared/host';
import { SI } from '../recorded/recorded-commands.ts';
import { seePath, toFault } from './see-path.ts';
import { createSeen, type Seen, type SeenCommand } from './seen.ts';

/** A host that is read through, and what was seen on it. */
export interface RecordingHost extends HostReader {
  readonly seen: Seen;
}

const mostDenied = 8;

/** Passes every read on and remembers it, for `writeRecording`. Of a file that is read twice the later content counts. */
export function recordHost(host: HostReader): RecordingHost {
  const seen = createSeen();
  let moment: Promise<HostMoment> | undefined;

  /** Remembers the way to the path, then what is known of its end. */
  const note = async <T>(path: string, read: Read<T>, remember: (end: string, value: T) => void): Promise<Read<T>> => {
    if (!read.ok && read.because === 'timed_out') {
      // Walking there would hang as well.
      seen.faults.set(posix.normalize(path), 'hang');
      return read;
    }
    const end = await seePath(host, seen, path);
    if (end === undefined) return read;
    if (read.ok) remember(end, read.value);
    else noteFault(end, read);
    return read;
  };

  const noteFault = (end: string, read: Extract<Read<never>, { ok: false }>): void => {
    const fault = toFault(read.because);
    // A content that is known is too large for this caller only.
    const isKnown = fault === 'EFBIG' && seen.paths.get(end)?.content !== undefined;
    if (fault !== undefined && seen.paths.has(end) && !isKnown) seen.faults.set(end, fault);
  };

  /** Only the links that were asked for: the others tell of everything that a person has open. */
  const noteOpenFiles = async ({ open, read, unread }: OpenFiles): Promise<void> => {
    for (const { pid, fd } of open) await seePath(host, seen, `/proc/${pid}/fd/${fd}`, { keepLast: true });
    // One process shows that processes could be looked into, and a few that others could not.
    for (const pid of read.slice(0, 1)) {
      const end = await seePath(host, seen, `/proc/${pid}/fd`);
      if (end !== undefined) Object.assign(seen.paths.get(end) ?? {}, { listed: true });
    }
    for (const { pid, because } of unread.slice(0, mostDenied)) {
      const end = await seePath(host, seen, `/proc/${pid}/fd`);
      if (end !== undefined) noteFault(end, { ok: false, because, detail: '' });
    }
  };

  const ask = (end: string | undefined): void => {
    const known = end === undefined ? undefined : seen.paths.get(end);
    if (known) known.asked = true;
  };

  return {
    seen,
    moment: () => {
      moment ??= host.moment();
      return moment;
    },
    readText: async (path, options) =>
      note(path, await host.readText(path, options), (end, content) => {
        Object.assign(seen.paths.get(end) ?? {}, { content, bytes: false });
        seen.faults.delete(end);
      }),
    readBytes: async (path, options) =>
      note(path, await host.readBytes(path, options), (end, content) => {
        Object.assign(seen.paths.get(end) ?? {}, { content, bytes: true });
        seen.faults.delete(end);
      }),
    listDir: async (path) => {
      const listed = await host.listDir(path);
      const ends: string[] = [];
      await note(path, listed, (end) => ends.push(end));
      for (const end of ends) {
        Object.assign(seen.paths.get(end) ?? {}, { listed: true });
        seen.faults.delete(end);
        for (const { name } of listed.ok ? listed.value : []) {
          await seePath(host, seen, posix.join(end, name), { keepLast: true });
        }
      }
      return listed;
    },
    stat: async (path) => {
      const stat = await host.stat(path);
      ask(await seePath(host, seen, path));
      return stat;
    },
    lstat: async (path) => {
      const stat = await host.lstat(path);
      ask(await seePath(host, seen, path, { keepLast: true }));
      return stat;
    },
    readLink: async (path) => {
      const link = await host.readLink(path);
      await seePath(host, seen, path, { keepLast: true });
      return link;
    },
    openFiles: async (prefixes) => {
      const found = await host.openFiles(prefixes);
      if (!found.ok) await note('/proc', found, () => undefined);
      else await noteOpenFiles(found.value);
      return found;
    },
    run: async (argv, options) => {
      const ran = await host.run(argv, options);
      if (!ran.ok && ran.because === 'absent') seen.absent.add(argv[0] ?? '');
      else seen.commands.push(toSeen(argv, ran));
      return ran;
    },
    si: async (name) => {
      const read = await host.si(name);
      if (read.ok) seen.commands.push(toSeen([SI, name], { ok: true, value: outputOf(read.value) }));
      return read;
    },
    probeUrl: async (url, options) => {
      const read = await host.probeUrl(url, options);
      const answer = read.ok
        ? { status: read.value.status, error: read.value.tlsError, dateMs: read.value.dateMs }
        : { status: null, error: read.because === 'timed_out' ? read.because : read.detail, dateMs: null };
      if (read.ok || read.because !== 'not_recorded') seen.urls.set(url, { url, ...answer });
      return read;
    },
  };
}

const NO_OUTPUT: SeenCommand['ran'] = { exitCode: null, stdout: '', stderr: '', timedOut: false, truncated: false };

function outputOf(reading: unknown): SeenCommand['ran'] {
  return { ...NO_OUTPUT, exitCode: 0, stdout: `${JSON.stringify(reading, null, 2)}\n` };
}

function toSeen(argv: readonly string[], ran: Read<SeenCommand['ran']>): SeenCommand {
  if (ran.ok) return { argv, ran: ran.value, error: null };
  const error = ran.because === 'denied' ? 'EACCES' : ran.because === 'not_recorded' ? 'not_recorded' : 'EIO';
  return { argv, ran: NO_OUTPUT, error };
}
