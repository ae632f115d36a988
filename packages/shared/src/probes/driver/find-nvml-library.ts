import type { HostReader } from '../../host/index.ts';
import { parseLibraryVersion } from './parse-driver-files.ts';

const link = 'libnvidia-ml.so.1';
/** Loader directories of Debian, RHEL, SUSE, JetPack and WSL, in the order in which a loader would meet them. */
const folders = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu/nvidia',
  '/usr/lib64',
  '/usr/lib/wsl/lib',
  '/usr/lib/nvidia/current',
  '/usr/lib/x86_64-linux-gnu/nvidia/current',
  '/usr/lib/aarch64-linux-gnu/nvidia/current',
];
/** Debian's packages go through its alternatives system. */
const hops = ['/etc/alternatives', ...folders];
const maxHops = 6;

export const nvmlLibraryFiles = hops.map((folder) => `${folder}/*libnvidia-ml.so*`);

export interface NvmlLibrary {
  path: string | null;
  version: string | null;
  /** Why the version is not known although a library is there. */
  because: string | null;
}

/** The version is in the name of the file that libnvidia-ml.so.1 leads to: no process has to load it. */
export async function findNvmlLibrary(host: HostReader): Promise<NvmlLibrary> {
  let failure: string | null = null;
  for (const folder of folders) {
    const path = `${folder}/${link}`;
    const stat = await host.lstat(path);
    if (!stat.ok && stat.because !== 'absent') failure = stat.because;
    if (!stat.ok) continue;
    const version = await versionBehind(host, path);
    // A dangling link is what a half-removed driver leaves: the loader goes on to the next directory, and so do we.
    const target = await host.stat(path);
    if (!target.ok && target.because === 'absent') continue;
    return { path, version, because: version === null ? 'no_version_in_name' : null };
  }
  return { path: null, version: null, because: failure };
}

async function versionBehind(host: HostReader, start: string): Promise<string | null> {
  let path = start;
  for (let hop = 0; hop < maxHops; hop += 1) {
    const read = await host.readLink(path);
    if (!read.ok) return null;
    path = resolve(path, read.value);
    const version = parseLibraryVersion(path.slice(path.lastIndexOf('/') + 1));
    if (version !== null) return version;
    if (!hops.includes(path.slice(0, path.lastIndexOf('/')))) return null;
  }
  return null;
}

function resolve(from: string, target: string): string {
  const parts = target.startsWith('/') ? [] : from.split('/').slice(1, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
