import { createHash } from 'node:crypto';
import type { Clock } from '@gpufleet/shared/core';
import { findOpenFiles, type HostReader, type Read, type ReadFailure, type RunOptions } from '@gpufleet/shared/host';
import type { Done, EffectFailure, Host, WriteFile } from '../host.ts';
import { isAllowedPath, isOnAllowedWay } from '../real/allowed-paths.ts';
import { boot } from './boot.ts';
import type { SimulatedClass } from './classes/index.ts';
import { createMachine } from './create-machine.ts';
import { type FaultSpec, resolveFault } from './faults/index.ts';
import { contentOf, type FileInode, type FileTree, type Inode, toStat } from './file-tree.ts';
import { type Effect, findProgram, type Machine, nowMs, uptimeMs } from './machine.ts';
import { askNetwork, fetchFromNetwork } from './network.ts';
import { showProcesses } from './processes.ts';
import { programs } from './programs/index.ts';
import { settleUnits } from './systemd.ts';

export interface SimulatedHostOptions {
  class: SimulatedClass;
  name: string;
  /** Two hosts of one seed and different names are still different machines. */
  seed?: string;
  faults?: readonly FaultSpec[];
  clock: Clock;
  timezone?: string;
  /** Machines that name the same cluster share its certificate authority. */
  cluster?: string;
}

/** A machine in memory that behaves like a real one, with handles for those who watch or disturb it. */
export interface SimulatedHost extends Host {
  readonly class: SimulatedClass;
  readonly name: string;
  /** Everything that changed the machine since it was made, in order. */
  readonly effects: readonly Effect[];
  /** The injected faults whose cause is still there: one that a job repaired is gone. */
  readonly faults: readonly FaultSpec[];
  /** The machine's inside, for tests that set up what no fault names. */
  readonly machine: Machine;
  addFault(spec: FaultSpec): void;
  /** A person repairs the cause at the machine. */
  clearFault(spec: FaultSpec): void;
  /** An orderly restart of the machine. */
  reboot(): void;
  /** Power goes and comes back: what was written is there (every write is synced), nothing that ran is. */
  powerCut(): void;
}

const defaultMaxBytes = 8 * 1024 * 1024;

export function createSimulatedHost(options: SimulatedHostOptions): SimulatedHost {
  const machine = createMachine(options);
  const injected: FaultSpec[] = [];
  const host: SimulatedHost = {
    class: options.class,
    name: options.name,
    machine,
    effects: machine.effects,
    get faults() {
      settleUnits(machine);
      return injected.filter((spec) => {
        const { fault, unit } = resolveFault(machine, options.class, spec);
        return fault.isPresent(machine, unit);
      });
    },
    addFault(spec) {
      settleUnits(machine);
      const { fault, unit } = resolveFault(machine, options.class, spec);
      fault.apply(machine, unit);
      if (!injected.includes(spec)) injected.push(spec);
    },
    clearFault(spec) {
      const at = injected.indexOf(spec);
      if (at < 0) return;
      injected.splice(at, 1);
      const { fault, unit } = resolveFault(machine, options.class, spec);
      fault.repair(machine, unit);
      settleUnits(machine);
    },
    reboot: () => boot(machine, 'reboot'),
    powerCut: () => boot(machine, 'power_cut'),
    ...readsOf(machine),
    run: (argv, options) => run(machine, argv, options),
    fetchText: async (url, options) => fetchFromNetwork(machine, url, options.maxBytes),
    mayWrite: async (path) => placeToWrite(machine, path).done,
    writeFile: async (write) => logged(machine, 'write', write.path, writeFile(machine, write)),
    removeFile: async (path, expectSha256) => logged(machine, 'remove', path, removeFile(machine, path, expectSha256)),
    removeEmptyFolder: async (path) => logged(machine, 'remove', path, removeEmptyFolder(machine, path)),
  };
  for (const spec of options.faults ?? []) host.addFault(spec);
  return host;
}

function readsOf(machine: Machine): Omit<HostReader, 'run'> {
  const { files } = machine;
  const links: Pick<HostReader, 'listDir' | 'readLink'> = {
    listDir: async (path) => absolute(path) ?? files.list(path),
    async readLink(path) {
      const found = absolute(path) ?? files.find(path, false);
      if (!found.ok) return found;
      return found.value.type === 'symlink'
        ? { ok: true, value: found.value.target }
        : failed('not_a_file', `${path} is not a link`);
    },
  };
  return {
    ...links,
    async moment() {
      return {
        nowMs: nowMs(machine),
        bootId: machine.boot.id,
        uptimeMs: Math.round(uptimeMs(machine)),
        uid: 0,
        timezone: machine.os.timezone,
      };
    },
    readText: async (path, options) => readContent(files, path, 'utf8', options?.maxBytes),
    readBytes: async (path, options) => readContent(files, path, 'latin1', options?.maxBytes),
    async stat(path) {
      const found = absolute(path) ?? files.find(path);
      return found.ok ? { ok: true, value: toStat(found.value) } : found;
    },
    async lstat(path) {
      const found = absolute(path) ?? files.find(path, false);
      return found.ok ? { ok: true, value: toStat(found.value) } : found;
    },
    async openFiles(prefixes) {
      settleUnits(machine);
      showProcesses(machine);
      return findOpenFiles(links, prefixes);
    },
    si: async (name) => failed('not_recorded', `the simulated host does not answer si ${name}`),
    probeUrl: async (url) => askNetwork(machine, url),
  };
}

function readContent(
  files: FileTree,
  path: string,
  encoding: 'utf8' | 'latin1',
  maxBytes = defaultMaxBytes,
): Read<string> {
  const found = absolute(path) ?? files.find(path);
  if (!found.ok) return found;
  if (found.value.type !== 'file') return failed('not_a_file', `${path} is not a regular file`);
  const bytes = Buffer.from(contentOf(found.value), found.value.bytes ? 'latin1' : 'utf8');
  return bytes.length > maxBytes
    ? failed('too_large', `${path} is larger than ${maxBytes} bytes`)
    : { ok: true, value: bytes.toString(encoding) };
}

async function run(
  machine: Machine,
  argv: readonly string[],
  { timeoutMs, maxBytes = defaultMaxBytes, input }: RunOptions,
): ReturnType<Host['run']> {
  settleUnits(machine);
  const [name = '', ...args] = argv;
  const path = findProgram(machine, name);
  if (path === undefined) return failed('absent', `there is no program ${name}`);
  const answer = programs[name.slice(name.lastIndexOf('/') + 1)]?.(machine, args, input);
  if (answer === undefined)
    return failed('not_recorded', `the simulated ${name} does not know these arguments: ${args.join(' ')}`);
  if (answer === 'hangs') {
    await new Promise<void>((resolve) => machine.clock.after(timeoutMs, resolve));
    return { ok: true, value: { exitCode: null, stdout: '', stderr: '', timedOut: true, truncated: false } };
  }
  const stdout = cut(answer.stdout, maxBytes);
  const stderr = cut(answer.stderr, maxBytes);
  const truncated = stdout !== answer.stdout || stderr !== answer.stderr;
  return { ok: true, value: { exitCode: answer.exitCode, stdout, stderr, timedOut: false, truncated } };
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? text : bytes.subarray(0, maxBytes).toString('utf8');
}

function writeFile(machine: Machine, write: WriteFile): Done {
  const { files } = machine;
  const { done, path, before } = placeToWrite(machine, write.path);
  if (!done.ok) return done;
  if (before && before.type !== 'file') return refused('failed', `${path} is not a regular file`);
  if (hashOf(before) !== write.expectSha256) return refused('changed_since_plan', `${path} is not as it was`);
  const blocked = diskRefusal(machine);
  if (blocked) return blocked;
  const options = before
    ? { mode: before.mode, uid: before.uid, gid: before.gid }
    : { mode: write.newMode, ...write.newOwner };
  if (!before && write.newOwner) makeFolders(files, path, write.newOwner);
  files.put(path, write.contents, options);
  return { ok: true };
}

function makeFolders(files: FileTree, path: string, owner: { uid: number; gid: number }): void {
  const parts = path.split('/').slice(0, -1);
  for (const depth of parts.keys()) if (depth > 0) files.putDir(parts.slice(0, depth + 1).join('/'), owner);
}

function placeToWrite(machine: Machine, given: string): { done: Done; path: string; before: Inode | undefined } {
  const place = machine.files.locate(given, true);
  const path = place.ok ? place.path : whereNew(machine.files, normalised(given));
  const before = place.ok ? place.inode : undefined;
  const no = (because: EffectFailure, detail: string) => ({ done: refused(because, detail), path, before });
  if (!given.startsWith('/')) return no('path_not_allowed', `${given} is not absolute`);
  if (!place.ok && place.because !== 'absent') return no('failed', place.detail);
  if (!isAllowedPath(path)) return no('path_not_allowed', `jobs may not write ${path}`);
  return { done: { ok: true }, path, before };
}

function removeFile(machine: Machine, path: string, expectSha256: string): Done {
  const { files } = machine;
  const place = files.locate(path, false);
  if (!place.ok || !place.inode) return refused('absent', `there is no ${path}`);
  if (!isAllowedPath(place.path)) return refused('path_not_allowed', `jobs may not remove ${place.path}`);
  const leads = files.find(path);
  if (!leads.ok) return refused('absent', leads.detail);
  if (leads.value.type !== 'file') return refused('failed', `${path} is not a regular file`);
  if (hashOf(leads.value) !== expectSha256) return refused('changed_since_plan', `${path} is not as it was`);
  const blocked = diskRefusal(machine);
  // A full disk still lets a file be removed.
  if (blocked && machine.disk === 'read_only') return blocked;
  files.remove(place.path);
  return { ok: true };
}

function removeEmptyFolder({ files, disk }: Machine, path: string): Done {
  const place = files.locate(path, false);
  if (!isOnAllowedWay(place.ok ? place.path : normalised(path)))
    return refused('path_not_allowed', `jobs may not remove ${path}`);
  if (!place.ok || place.inode?.type !== 'dir' || place.inode.children.size > 0) return { ok: true };
  if (disk === 'read_only') return refused('read_only', 'EROFS: read-only file system');
  files.remove(place.path);
  return { ok: true };
}

function diskRefusal(machine: Machine): Done | undefined {
  if (machine.disk === 'full') return refused('no_space', 'ENOSPC: no space left on device');
  if (machine.disk === 'read_only') return refused('read_only', 'EROFS: read-only file system');
  return undefined;
}

function logged(machine: Machine, what: 'write' | 'remove', path: string, done: Done): Done {
  machine.effects.push({ atMs: nowMs(machine), do: what, path, ok: done.ok });
  return done;
}

function hashOf(inode: FileInode | undefined): string | null {
  return inode ? createHash('sha256').update(contentOf(inode)).digest('hex') : null;
}

/** Of a path whose folders do not exist yet: links on the part of the way that is there are followed. */
function whereNew(files: FileTree, path: string): string {
  const parts = path.split('/');
  for (let depth = parts.length - 1; depth > 0; depth -= 1) {
    const place = files.locate(parts.slice(0, depth).join('/') || '/', true);
    if (place.ok && place.inode) return [place.path === '/' ? '' : place.path, ...parts.slice(depth)].join('/');
  }
  return path;
}

function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function absolute(path: string): Read<never> | undefined {
  return path.startsWith('/') ? undefined : failed('io_error', `${path} is not absolute`);
}

function failed(because: ReadFailure, detail: string): Read<never> {
  return { ok: false, because, detail };
}

function refused(because: EffectFailure, detail: string): Done {
  return { ok: false, because, detail };
}
