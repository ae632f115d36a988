import type { DirEntry, FileStat, Read, ReadFailure } from '@gpufleet/shared/host';

interface Owned {
  mode: number;
  uid: number;
  gid: number;
  mtimeMs: number;
}
/** `content` is a function for files that the kernel makes up when they are read. */
export type FileInode = Owned & {
  type: 'file';
  content: string | (() => string);
  /** No text: one character for each byte. */
  bytes?: boolean;
};
export type DirInode = Owned & { type: 'dir'; children: Map<string, Inode> };
export type LinkInode = Owned & { type: 'symlink'; target: string };
export type SpecialInode = Owned & {
  type: 'char' | 'block' | 'fifo' | 'socket';
  device?: { major: number; minor: number };
};
export type Inode = FileInode | DirInode | LinkInode | SpecialInode;

export interface PutOptions {
  mode?: number;
  uid?: number;
  gid?: number;
  mtimeMs?: number;
}

/** Where a path leads: the folder that holds (or would hold) the last part, its canonical path, and what is there. */
export type Place = { ok: true; dir: DirInode; name: string; path: string; inode: Inode | undefined };
type Lost = { ok: false; because: ReadFailure; detail: string };

const maxLinks = 40;

/** A file system in memory with the semantics of Linux that the Host port shows. */
export class FileTree {
  readonly root: DirInode;

  constructor(
    private readonly nowMs: () => number,
    madeAtMs: number,
  ) {
    this.root = { type: 'dir', mode: 0o755, uid: 0, gid: 0, mtimeMs: madeAtMs, children: new Map() };
  }

  /** Walks a path; the last part may be missing. `follow`: a link at the last part is followed too. */
  locate(path: string, follow: boolean): Place | Lost {
    let links = 0;
    const walk = (from: string): Place | Lost => {
      const parts = from.split('/').filter((part) => part !== '' && part !== '.');
      const stack: { dir: DirInode; path: string }[] = [{ dir: this.root, path: '' }];
      for (let at = 0; at < parts.length; at++) {
        const name = parts[at] ?? '';
        const here = stack[stack.length - 1] ?? { dir: this.root, path: '' };
        if (name === '..') {
          if (stack.length > 1) stack.pop();
          if (at === parts.length - 1) return self(stack);
          continue;
        }
        const inode = here.dir.children.get(name);
        const last = at === parts.length - 1;
        if (inode?.type === 'symlink' && (!last || follow)) {
          if (++links > maxLinks) return lost('io_error', `ELOOP: too many symbolic links, '${path}'`);
          const base = inode.target.startsWith('/') ? inode.target : `${here.path}/${inode.target}`;
          return walk([base, ...parts.slice(at + 1)].join('/'));
        }
        if (last) return { ok: true, dir: here.dir, name, path: `${here.path}/${name}`, inode };
        if (!inode) return lost('absent', `ENOENT: no such file or directory, '${path}'`);
        if (inode.type !== 'dir') return lost('absent', `ENOTDIR: not a directory, '${path}'`);
        stack.push({ dir: inode, path: `${here.path}/${name}` });
      }
      return self(stack);
    };
    const self = (stack: { dir: DirInode; path: string }[]): Place => {
      const here = stack[stack.length - 1] ?? { dir: this.root, path: '' };
      const parent = stack[stack.length - 2]?.dir ?? this.root;
      return { ok: true, dir: parent, name: here.path.split('/').pop() ?? '', path: here.path || '/', inode: here.dir };
    };
    return walk(path);
  }

  find(path: string, follow = true): Read<Inode> {
    const place = this.locate(path, follow);
    if (!place.ok) return place;
    if (!place.inode) return lost('absent', `ENOENT: no such file or directory, '${path}'`);
    return { ok: true, value: place.inode };
  }

  has(path: string): boolean {
    return this.find(path).ok;
  }

  /** Text of a regular file, or undefined. */
  text(path: string): string | undefined {
    const found = this.find(path);
    return found.ok && found.value.type === 'file' ? contentOf(found.value) : undefined;
  }

  list(path: string): Read<DirEntry[]> {
    const found = this.find(path);
    if (!found.ok) return found;
    if (found.value.type !== 'dir') return lost('absent', `ENOTDIR: not a directory, '${path}'`);
    const entries = [...found.value.children].map(([name, inode]) => ({ name, type: inode.type }));
    return { ok: true, value: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  /** A file that is no text, given as one character for each byte. */
  putBytes(path: string, content: string, options: PutOptions = {}): void {
    this.put(path, content, options).bytes = true;
  }

  put(path: string, content: string | (() => string), options: PutOptions = {}): FileInode {
    return this.place(path, { type: 'file', content, ...this.owned(0o644, options) });
  }

  putDir(path: string, options: PutOptions = {}): void {
    const found = this.find(path, false);
    if (!found.ok) this.place(path, { type: 'dir', children: new Map(), ...this.owned(0o755, options) });
  }

  putLink(path: string, target: string, options: PutOptions = {}): void {
    this.place(path, { type: 'symlink', target, ...this.owned(0o777, options) });
  }

  putSpecial(
    path: string,
    type: SpecialInode['type'],
    device: SpecialInode['device'] | undefined,
    options: PutOptions = {},
  ): void {
    this.place(path, { type, ...(device ? { device } : {}), ...this.owned(0o666, options) });
  }

  /** Like `rm -rf`: says nothing when it is not there. */
  remove(path: string): void {
    const place = this.locate(path, false);
    if (place.ok && place.inode && place.inode !== this.root) {
      place.dir.children.delete(place.name);
      place.dir.mtimeMs = this.nowMs();
    }
  }

  private owned(mode: number, options: PutOptions): Owned {
    return {
      mode: options.mode ?? mode,
      uid: options.uid ?? 0,
      gid: options.gid ?? 0,
      mtimeMs: options.mtimeMs ?? this.nowMs(),
    };
  }

  private place<T extends Inode>(path: string, inode: T): T {
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop() ?? '';
    const parent = parts.length ? `/${parts.join('/')}` : '/';
    if (parts.length) this.putDir(parent, { mtimeMs: inode.mtimeMs });
    const found = this.find(parent);
    if (!found.ok || found.value.type !== 'dir') throw new Error(`${parent} is not a folder`);
    found.value.children.set(name, inode);
    return inode;
  }
}

export function contentOf(file: FileInode): string {
  return typeof file.content === 'function' ? file.content() : file.content;
}

export function toStat(inode: Inode): FileStat {
  const { type, mode, uid, gid, mtimeMs } = inode;
  return {
    type,
    size: sizeOf(inode),
    mode,
    uid,
    gid,
    mtimeMs,
    ...(isSpecial(inode) && inode.device ? { device: inode.device } : {}),
  };
}

function sizeOf(inode: Inode): number {
  if (inode.type === 'dir') return 4096;
  if (inode.type === 'symlink') return Buffer.byteLength(inode.target);
  // The kernel does not know the size of a file that it makes up: it says 0.
  if (inode.type === 'file') return typeof inode.content === 'function' ? 0 : Buffer.byteLength(inode.content);
  return 0;
}

function isSpecial(inode: Inode): inode is SpecialInode {
  return inode.type !== 'dir' && inode.type !== 'file' && inode.type !== 'symlink';
}

function lost(because: ReadFailure, detail: string): Lost {
  return { ok: false, because, detail };
}
