import type { OpenFiles } from './open-files.ts';

/** Why something of the host could not be read. */
export type ReadFailure = 'absent' | 'denied' | 'io_error' | 'timed_out' | 'too_large' | 'not_a_file' | 'not_recorded';

export type Read<T> = { ok: true; value: T } | { ok: false; because: ReadFailure; detail: string };

/** When and where a reading was taken. `uptimeMs` is monotonic within one `bootId`; `nowMs` may be wrong by years. */
export interface HostMoment {
  nowMs: number;
  bootId: string;
  uptimeMs: number;
  uid: number;
  timezone: string;
}

export interface FileStat {
  type: 'file' | 'dir' | 'symlink' | 'char' | 'block' | 'fifo' | 'socket';
  size: number;
  /** Permission bits only, e.g. 0o644. */
  mode: number;
  uid: number;
  gid: number;
  mtimeMs: number;
  /** Device numbers of `char` and `block`. */
  device?: { major: number; minor: number };
}

export interface DirEntry {
  name: string;
  type: FileStat['type'];
}

/** What a finished program left. `exitCode` is null when it was ended by a signal or by the time limit. */
export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** Output went over `maxBytes` and was cut. */
  truncated: boolean;
}

export interface RunOptions {
  timeoutMs: number;
  /** Cap on stdout and stderr each; default 8 MiB. */
  maxBytes?: number;
  /** Text on its stdin; absent: nothing is there to be read. */
  input?: string;
  /** For package managers: nobody is there to answer questions, and no daemon is restarted by a helper of theirs. */
  unattended?: boolean;
}

/** What a web server answered to HEAD; nothing of its body is read. */
export interface UrlAnswer {
  status: number;
  /** Its Date header. */
  dateMs: number | null;
  /** Why its certificate is not accepted here (too new or too old for this clock, unknown issuer); null: it is. */
  tlsError: string | null;
}

/**
 * The reading half of the Host port. No method throws for what a host may do: absent files, hung file systems and
 * unknown programs are values. Paths are absolute. Links are followed except by `lstat` and `readLink`.
 */
export interface HostReader {
  moment(): Promise<HostMoment>;
  /** UTF-8 text; invalid bytes become U+FFFD; default cap 8 MiB. Only regular files (and /proc, /sys) are read. */
  readText(path: string, options?: { maxBytes?: number }): Promise<Read<string>>;
  /** The same for a file that is no text: one character for each byte. */
  readBytes(path: string, options?: { maxBytes?: number }): Promise<Read<string>>;
  /** Entries sorted by name. */
  listDir(path: string): Promise<Read<DirEntry[]>>;
  stat(path: string): Promise<Read<FileStat>>;
  lstat(path: string): Promise<Read<FileStat>>;
  readLink(path: string): Promise<Read<string>>;
  /** Files whose path begins with one of the prefixes and which processes have open. */
  openFiles(prefixes: readonly string[]): Promise<Read<OpenFiles>>;
  /** `absent` when there is no such program. An exit code other than 0 is a value, not a failure. LC_ALL=C is set. */
  run(argv: readonly string[], options: RunOptions): Promise<Read<Ran>>;
  /** One function of systeminformation that starts no process, by name. */
  si(name: string): Promise<Read<unknown>>;
  /**
   * HEAD of an http or https address, no redirect followed, no proxy. A certificate that is not accepted is told, not
   * refused: with a wrong clock none would be, and the Date header is what shows it. Nothing secret is sent.
   */
  probeUrl(url: string, options: { timeoutMs: number }): Promise<Read<UrlAnswer>>;
}
