import { posix } from 'node:path';
import type { HostMoment } from '@gpufleet/shared/host';
import type { RecordedFault } from '../recorded/format.ts';
import { STUB_ENDING } from '../recorded/format.ts';
import { DEFAULT_MODES } from '../recorded/recorded-files.ts';
import type { Redactor } from './create-redactor.ts';
import type { Seen, SeenPath } from './seen.ts';

export type TreeEntry = { is: 'file'; contents: string | Buffer } | { is: 'link'; target: string };
/** As in host.json, where modes are octal text. */
export interface FileMeta {
  mode?: string;
  uid?: number;
  gid?: number;
  mtimeMs?: number;
  size?: number;
  error?: RecordedFault | null;
}

/** What goes below root/, and what host.json adds: only what differs from the defaults. */
export function toTree(
  seen: Seen,
  at: HostMoment,
  redactor: Redactor,
): { entries: { path: string; entry: TreeEntry }[]; files: Record<string, FileMeta> } {
  const entries: { path: string; entry: TreeEntry }[] = [];
  const files: Record<string, FileMeta> = {};
  const parents = new Set([...seen.paths.keys()].map((path) => posix.dirname(path)));
  const paths = [...new Set([...seen.paths.keys(), ...seen.faults.keys()])].filter((path) => path !== '/').sort();
  for (const seenPath of paths) {
    const known = seen.paths.get(seenPath);
    const path = redactor.path(seenPath);
    const error = faultOf(seen, seenPath, parents.has(seenPath));
    const written = known && toEntry(known, seenPath, redactor, parents.has(seenPath));
    if (written) entries.push({ path: `${path}${written.ending}`, entry: written.entry });
    const meta = { ...(known && toMeta(known, seenPath, at, written)), ...(error === undefined ? {} : { error }) };
    if (Object.keys(meta).length > 0) files[path] = meta;
  }
  return { entries, files };
}

function faultOf(seen: Seen, path: string, hasBelow: boolean): RecordedFault | null | undefined {
  const fault = seen.faults.get(path);
  if (fault !== undefined) return fault;
  const known = seen.paths.get(path);
  if (known === undefined) return undefined;
  const isUnreadFile = known.stat.type === 'file' && known.content === undefined;
  const isUnlistedFolder = known.stat.type === 'dir' && !known.listed && !known.searched && !hasBelow;
  if (isUnreadFile || isUnlistedFolder) return 'not_recorded';
  return isBelowDenied(seen, path) ? null : undefined;
}

function isBelowDenied(seen: Seen, path: string): boolean {
  if (path === '/') return false;
  const folder = posix.dirname(path);
  return seen.faults.get(folder) === 'EACCES' || isBelowDenied(seen, folder);
}

interface WrittenEntry {
  entry: TreeEntry;
  ending: string;
  /** What a replay will say; undefined where redaction has changed the content, so that no size is the right one. */
  size: number | undefined;
}

function toEntry(known: SeenPath, path: string, redactor: Redactor, hasBelow: boolean): WrittenEntry | undefined {
  const { stat, target, content = '' } = known;
  if (stat.type === 'symlink') {
    return { entry: { is: 'link', target: redactor.path(target ?? '') }, ending: '', size: stat.size };
  }
  if (stat.type === 'file' && known.bytes) {
    const contents = Buffer.from(redactor.bytes(content), 'latin1');
    return { entry: { is: 'file', contents }, ending: '', size: contents.length };
  }
  if (stat.type === 'file') {
    const contents = redactor.file(path, content);
    const size = contents === content ? Buffer.byteLength(contents) : undefined;
    return { entry: { is: 'file', contents }, ending: '', size };
  }
  // What is below it makes the folder.
  if (stat.type === 'dir' && hasBelow) return undefined;
  const stub = { type: stat.type, ...stat.device, mode: octal(stat.mode) };
  return { entry: { is: 'file', contents: `${JSON.stringify(stub)}\n` }, ending: STUB_ENDING, size: undefined };
}

function toMeta({ stat, asked }: SeenPath, path: string, at: HostMoment, written: WrittenEntry | undefined): FileMeta {
  const size = written?.size;
  const { mode, uid, gid, mtimeMs, type } = stat;
  const bootMs = at.nowMs - at.uptimeMs;
  return {
    // A stub tells its mode itself.
    ...(mode === DEFAULT_MODES[type] || written?.ending === STUB_ENDING ? {} : { mode: octal(mode) }),
    ...(uid === 0 ? {} : { uid }),
    ...(gid === 0 ? {} : { gid }),
    // Files of the kernel have the time at which somebody looked.
    ...(asked && mtimeMs !== bootMs && !/^\/(?:proc|sys)\//.test(path) ? { mtimeMs } : {}),
    ...(asked && type === 'file' && size !== undefined && size !== stat.size ? { size: stat.size } : {}),
  };
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
