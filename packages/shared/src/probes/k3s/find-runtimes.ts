import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import { servicePath } from '../unit-folders.ts';
import type { K3sFact } from './fact.ts';

/** Handler and the program that makes k3s configure it. */
const detected = [
  ['nvidia', 'nvidia-container-runtime'],
  ['nvidia-cdi', 'nvidia-container-runtime.cdi'],
  ['nvidia-experimental', 'nvidia-container-runtime-experimental'],
] as const;

/** Put before the PATH of the unit at each start. */
const ownFolders = ['/usr/local/nvidia/toolkit', '/opt/kwasm/bin'];

/** A PATH may name any folder; those down to this depth are looked into. */
export const runtimeFiles = ['', '/*', '/*/*', '/*/*/*', '/*/*/*/*'].flatMap((folder) =>
  detected.map(([, program]) => `${folder}/${program}`),
);

export function searchPathOf(path: string | null): string[] {
  const folders = (path ?? servicePath).split(':').map((folder) => folder.replace(/(?<=.)\/+$/, ''));
  return [...new Set([...ownFolders, ...folders.filter((folder) => folder.startsWith('/'))])];
}

/** The first file of each name wins, as in any search by PATH. */
export async function findRuntimes(
  host: HostReader,
  searchPath: readonly string[],
  partial: Gap[],
): Promise<K3sFact['runtimesFound']> {
  const found: K3sFact['runtimesFound'] = [];
  for (const [handler, program] of detected) {
    for (const folder of searchPath) {
      const path = `${folder}/${program}`;
      if (!runtimeFiles.some((pattern) => matchesPattern(pattern, path))) {
        partial.push({ path: 'runtimesFound', because: `folder_not_read: ${folder}` });
        continue;
      }
      const stat = await host.stat(path);
      if (!stat.ok && stat.because !== 'absent')
        partial.push({ path: 'runtimesFound', because: `${stat.because}: ${path}` });
      if (!stat.ok || stat.value.type !== 'file') continue;
      found.push({ handler, path, mtimeMs: stat.value.mtimeMs });
      break;
    }
  }
  return found;
}
