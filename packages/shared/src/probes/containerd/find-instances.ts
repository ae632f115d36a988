import type { ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { type Process, readProcesses } from '../read-processes.ts';
import type { ContainerdInstance } from './fact.ts';
import { type ContainerdOptions, ownerOf, parseContainerdOptions, parseExecStart } from './parse-command-line.ts';
import {
  binaries,
  binaryFolders,
  defaultAddress,
  defaultConfig,
  defaultRoot,
  distributionPlaces,
  unitDropIns,
  unitFiles,
} from './places.ts';

/** An instance before its configuration was read. `stated`: what its command line alone says. */
export interface FoundInstance {
  instance: ContainerdInstance;
  stated: ContainerdOptions;
}

/** Every containerd: processes by their command lines, then programs on the disk that none of them runs. Main one first. */
export async function findInstances(context: ProbeContext, gaps: Gap[]): Promise<FoundInstance[]> {
  const processes = await readProcesses(context.host, 'containerd', gaps);
  const running = processes.map(toInstance);
  const used = new Set(running.map(({ instance }) => instance.binary));
  const onDisk = (await findBinaries(context)).filter((path) => !used.has(path));
  const mainRuns = running.some(({ instance }) => instance.of === 'host');
  // Without a process its unit says how it will be started: what the search path has first may be another one.
  const exec = onDisk.length > 0 && !mainRuns ? await readExecStart(context) : [];
  const idle = onDisk.map((binary) => toIdle(binary, exec[0] === binary || onDisk.length === 1 ? exec : []));
  return [...running, ...idle].sort((a, b) => rank(a, exec[0]) - rank(b, exec[0]));
}

function toInstance(process: Process): FoundInstance {
  const stated = parseContainerdOptions(process.argv);
  const of = ownerOf(process, stated);
  const own = of === 'host' || of === 'container' ? null : distributionPlaces[of];
  const instance = {
    of,
    running: true,
    pid: process.pid,
    binary: process.exe ?? (process.argv[0]?.startsWith('/') ? process.argv[0] : null),
    replaced: process.replaced,
    version: null,
    unit: process.unit,
    configPath: stated.config ?? own?.config ?? defaultConfig,
    address: stated.address ?? own?.address ?? null,
    root: stated.root ?? own?.root ?? null,
    effective: null,
  };
  return { instance, stated };
}

function toIdle(binary: string, exec: string[]): FoundInstance {
  const stated = parseContainerdOptions(exec);
  const instance = {
    of: 'host' as const,
    running: false,
    pid: null,
    binary,
    replaced: false,
    version: null,
    unit: exec.length > 0 ? 'containerd.service' : null,
    configPath: stated.config ?? defaultConfig,
    address: stated.address,
    root: stated.root,
    effective: null,
  };
  return { instance, stated };
}

/** The host's own before those of others, what runs before what does not, and containerd.service before other units. */
function rank({ instance }: FoundInstance, unitBinary: string | undefined): number {
  if (instance.of !== 'host') return 4;
  if (instance.running) return instance.unit === 'containerd.service' ? 0 : 1;
  return instance.binary === unitBinary ? 2 : 3;
}

async function findBinaries({ host }: ProbeContext): Promise<string[]> {
  const links = await Promise.all(binaryFolders.map((folder) => host.readLink(folder)));
  const found: string[] = [];
  for (const [at, path] of binaries.entries()) {
    // A link leads to a program that is found where it really is, or belongs to something else.
    if (links[at]?.ok || (await host.readLink(path)).ok) continue;
    const stat = await host.stat(path);
    if (stat.ok && stat.value.type === 'file') found.push(path);
  }
  return found;
}

async function readExecStart({ host }: ProbeContext): Promise<string[]> {
  const texts: string[] = [];
  for (const path of unitFiles) {
    const read = await host.readText(path);
    if (!read.ok) continue;
    texts.push(read.value);
    break;
  }
  const listed = await host.listDir(unitDropIns);
  const names = listed.ok ? listed.value.map(({ name }) => name).filter((name) => name.endsWith('.conf')) : [];
  for (const name of names) {
    const read = await host.readText(`${unitDropIns}/${name}`);
    if (read.ok) texts.push(read.value);
  }
  return parseExecStart(texts);
}

/** What neither command line nor configuration says is what is built in. */
export function withPlaces(
  { instance, stated }: FoundInstance,
  config: { root: string | null; address: string | null } | null,
): ContainerdInstance {
  if (config === null) return instance;
  return {
    ...instance,
    address: stated.address ?? config.address ?? instance.address ?? defaultAddress,
    root: stated.root ?? config.root ?? instance.root ?? defaultRoot,
  };
}
