import type { HostReader } from '../../host/index.ts';
import type { DriverFact } from './fact.ts';
import { parseLibraryVersion } from './parse-driver-files.ts';

const link = 'libnvidia-ml.so.1';
/** Roots of drivers that the host's own loader does not search, with the folders of the library in them. */
const roots = [
  ['/run/nvidia/driver', ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'usr/lib64', 'usr/lib']],
  ['/home/kubernetes/bin/nvidia', ['lib64']],
  ['/usr/local/nvidia', ['lib64', 'lib']],
  ['/run/opengl-driver', ['lib']],
] as const;
const places = roots.flatMap(([root, folders]) => folders.map((folder) => ({ root, folder: `${root}/${folder}` })));
const cuda = '/usr/local';

export const otherLibraryFiles = [...places.map(({ folder }) => `${folder}/${link}`), cuda, `${cuda}/cuda*/compat`];

export async function findOtherLibraries(host: HostReader): Promise<DriverFact['otherLibraries']> {
  const found: DriverFact['otherLibraries'] = [];
  for (const { root, folder } of places) {
    const path = `${folder}/${link}`;
    if (!(await host.lstat(path)).ok) continue;
    const target = await host.readLink(path);
    const version = target.ok ? parseLibraryVersion(target.value.slice(target.value.lastIndexOf('/') + 1)) : null;
    found.push({ root, path, version });
  }
  return found;
}

export async function findCompatFolders(host: HostReader): Promise<string[]> {
  const listed = await host.listDir(cuda);
  if (!listed.ok) return [];
  const folders: string[] = [];
  for (const { name, type } of listed.value) {
    if (type !== 'dir' || !name.startsWith('cuda')) continue;
    const folder = `${cuda}/${name}/compat`;
    if ((await host.stat(folder)).ok) folders.push(folder);
  }
  return folders;
}
