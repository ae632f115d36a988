import {
  type DirEntry,
  type FileStat,
  findOpenFiles,
  type HostReader,
  type Ran,
  type Read,
  type ReadFailure,
  type UrlAnswer,
} from '../../host/index.ts';
import type { Collected, Probe } from '../define-probe.ts';
import type { Facts, FactValue, ProbeKey } from '../facts.ts';
import { matchesPattern, matchesSegment } from '../path-pattern.ts';

type FakeFile = string | { link: string } | { fails: ReadFailure } | { text: string; mode?: number; mtimeMs?: number };

export interface FakeHostParts {
  /** By path. A path that ends with `/` is an empty folder; folders of files exist by themselves. */
  files?: Record<string, FakeFile>;
  /** By argv joined with blanks. A string is stdout with exit code 0; a program that is not named is absent. */
  commands?: Record<string, string | Partial<Ran> | { fails: ReadFailure }>;
  /** By address; one that is not named gives no answer. */
  net?: Record<string, Partial<UrlAnswer>>;
}

export interface FakeReader extends HostReader {
  /** Paths and argvs that were read. */
  reads: { files: Set<string>; commands: string[][]; urls: string[] };
}

/** A host in memory that remembers what was asked of it. */
export function createFakeReader({ files = {}, commands = {}, net = {} }: FakeHostParts): FakeReader {
  const reads: FakeReader['reads'] = { files: new Set(), commands: [], urls: [] };
  const folders = new Set<string>(['/']);
  for (const path of Object.keys(files)) {
    const parts = path.split('/').slice(1);
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(`/${parts.slice(0, depth).join('/')}`);
  }
  const failure = (because: ReadFailure): Read<never> => ({ ok: false, because, detail: `fake: ${because}` });
  const follow = (path: string, hops = 8): string => {
    const file = files[path];
    if (hops === 0 || typeof file !== 'object' || !('link' in file)) return path;
    const parent = path.slice(0, path.lastIndexOf('/'));
    return follow(new URL(file.link, `file://${parent}/`).pathname, hops - 1);
  };
  const statOf = (type: FileStat['type'], size: number, file?: FakeFile): Read<FileStat> => {
    const given: { mode?: number; mtimeMs?: number } = typeof file === 'object' && 'text' in file ? file : {};
    return {
      ok: true,
      value: { type, size, mode: given.mode ?? 0o644, uid: 0, gid: 0, mtimeMs: given.mtimeMs ?? 1_000 },
    };
  };
  const stat = (path: string): Read<FileStat> => {
    const file = files[path];
    if (file === undefined) return folders.has(path) ? statOf('dir', 0) : failure('absent');
    if (typeof file === 'object' && 'fails' in file) return failure(file.fails);
    if (typeof file === 'object' && 'link' in file) return statOf('symlink', 0);
    return statOf('file', 1, file);
  };
  const at = <T>(path: string, read: () => T): Promise<T> => {
    reads.files.add(path);
    return Promise.resolve(read());
  };
  const readText = (path: string) =>
    at(path, () => {
      const file = files[follow(path)];
      if (file === undefined) return failure(folders.has(path) ? 'not_a_file' : 'absent');
      if (typeof file === 'string') return { ok: true as const, value: file };
      if ('text' in file) return { ok: true as const, value: file.text };
      return failure('fails' in file ? file.fails : 'absent');
    });
  const reader: FakeReader = {
    reads,
    moment: () =>
      Promise.resolve({ nowMs: 1_800_000_000_000, bootId: 'boot-1', uptimeMs: 60_000, uid: 0, timezone: 'Etc/UTC' }),
    readText,
    readBytes: readText,
    listDir: (path) =>
      at(path, () => {
        const file = files[path];
        if (typeof file === 'object' && 'fails' in file) return failure(file.fails);
        if (!folders.has(path)) return failure('absent');
        const prefix = path === '/' ? '/' : `${path}/`;
        const names = new Set(
          [...Object.keys(files), ...folders]
            .filter((other) => other.startsWith(prefix) && other !== prefix)
            .map((other) => other.slice(prefix.length).split('/')[0] ?? ''),
        );
        names.delete('');
        const value: DirEntry[] = [...names].sort().map((name) => {
          const found = stat(`${prefix}${name}`);
          return { name, type: found.ok ? found.value.type : 'file' };
        });
        return { ok: true as const, value };
      }),
    stat: (path) => at(path, () => stat(follow(path))),
    lstat: (path) => at(path, () => stat(path)),
    readLink: (path) =>
      at(path, () => {
        const file = files[path];
        if (typeof file === 'object' && 'link' in file) return { ok: true as const, value: file.link };
        return file === undefined && !folders.has(path) ? failure('absent') : failure('not_a_file');
      }),
    run: (argv) => {
      reads.commands.push([...argv]);
      const said = commands[argv.join(' ')];
      const program = Object.keys(commands).some((command) => command.split(' ')[0] === argv[0]);
      if (said === undefined) return Promise.resolve(failure(program ? 'not_recorded' : 'absent'));
      if (typeof said === 'object' && 'fails' in said) return Promise.resolve(failure(said.fails));
      const ran = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false };
      return Promise.resolve({ ok: true, value: { ...ran, ...(typeof said === 'string' ? { stdout: said } : said) } });
    },
    openFiles: (prefixes) => findOpenFiles(reader, prefixes),
    si: () => Promise.resolve(failure('not_recorded')),
    probeUrl: (url) => {
      reads.urls.push(url);
      const answer = net[url];
      if (answer === undefined) return Promise.resolve(failure('io_error'));
      return Promise.resolve({ ok: true, value: { status: 200, dateMs: null, tlsError: null, ...answer } });
    },
  };
  return reader;
}

/** FNV-1a: differs where the text differs, and shows nothing of it. */
export function fakeSha256(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return `hash-${hash.toString(16)}-${text.length}`;
}

/** Runs a probe on a fake host and fails when it reads what it did not declare. */
export async function collectOn<K extends ProbeKey>(
  probe: Probe<K>,
  parts: FakeHostParts,
  earlier: Partial<Facts> = {},
): Promise<Collected<FactValue<K>> & { reader: FakeReader }> {
  const reader = createFakeReader(parts);
  const collected = await probe.collect({ host: reader, sha256: fakeSha256, earlier });
  const undeclared = undeclaredReads(probe, reader);
  if (undeclared.length > 0) throw new Error(`${probe.key} reads what it does not declare: ${undeclared.join(', ')}`);
  return { ...collected, reader };
}

function undeclaredReads(probe: Pick<Probe, 'inputs'>, reader: FakeReader): string[] {
  const { files, commands, urls = [] } = probe.inputs;
  return [
    ...[...reader.reads.files].filter((path) => !files.some((pattern) => matchesPattern(pattern, path))),
    ...reader.reads.commands
      .filter((argv) => !commands.some((command) => isArgv(command.argv, argv)))
      .map((argv) => argv.join(' ')),
    ...reader.reads.urls.filter((url) => !urls.some((pattern) => matchesPattern(pattern, url))),
  ];
}

function isArgv(declared: readonly string[], argv: readonly string[]): boolean {
  return declared.length === argv.length && declared.every((word, index) => matchesSegment(word, argv[index] ?? ''));
}
