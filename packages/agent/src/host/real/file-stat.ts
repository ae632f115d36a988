import type { Stats } from 'node:fs';
import type { DirEntry, FileStat } from '@gpufleet/shared/host';

export type FileType = FileStat['type'];

type Tests = Pick<
  Stats,
  'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isCharacterDevice' | 'isBlockDevice' | 'isFIFO' | 'isSocket'
>;

export function typeOf(entry: Tests): FileType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'dir';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isCharacterDevice()) return 'char';
  if (entry.isBlockDevice()) return 'block';
  return entry.isFIFO() ? 'fifo' : 'socket';
}

export function toFileStat(stats: Stats): FileStat {
  const type = typeOf(stats);
  const { size, uid, gid } = stats;
  const common = { type, size, mode: stats.mode & 0o7777, uid, gid, mtimeMs: Math.floor(stats.mtimeMs) };
  return type === 'char' || type === 'block' ? { ...common, device: toDevice(stats.rdev) } : common;
}

/** Linux's encoding of a device number: 12 bits of major, 20 of minor in two pieces (majors above 4095 are unused). */
function toDevice(rdev: number): { major: number; minor: number } {
  return { major: (rdev >>> 8) & 0xfff, minor: (rdev & 0xff) | ((rdev >>> 12) & 0xfff00) };
}

export function sortedEntries(entries: DirEntry[]): DirEntry[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
