import type { HostReader } from '../../host/index.ts';
import { snapCommon } from '../microk8s/microk8s-paths.ts';
import type { Gap } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import type { KubeFact } from './fact.ts';
import { parseListeningSockets } from './parse-kubelet-files.ts';

const listeningPath = '/proc/net/unix';
const socketEnd = '/device-plugins/kubelet.sock';
const usualDirs = ['/var/lib/kubelet', '/var/lib/k0s/kubelet', `${snapCommon}/var/lib/kubelet`];
/** A kubelet's folder may be anywhere; its socket is looked for, its place is never computed alone. */
const anywhere = ['/*', '/*/*', '/*/*/*', '/*/*/*/*', '/*/*/*/*/*', '/*/*/*/*/*/*', '/*/*/*/*/*/*/*'];
export const socketFiles = [listeningPath, ...anywhere.map((root) => `${root}${socketEnd}`)];

/** `mounted`: folders of the host that a plugin mounts as the place of the socket. */
export async function readKubeletSockets(
  host: HostReader,
  rootDir: string | null,
  mounted: readonly string[],
  partial: Gap[],
): Promise<KubeFact['kubelet']['sockets']> {
  const read = await host.readText(listeningPath);
  const listening = read.ok ? parseListeningSockets(read.value) : null;
  if (listening === null)
    partial.push({ path: 'kubelet.sockets', because: read.ok ? 'too_large' : `${read.because}: ${listeningPath}` });
  const paths = new Set([
    ...[...usualDirs, ...(rootDir === null ? [] : [rootDir])].map((dir) => `${dir}${socketEnd}`),
    ...mounted.map((dir) => `${dir}/kubelet.sock`),
    ...(listening ?? []).filter((path) => path.endsWith(socketEnd)),
  ]);
  const found: KubeFact['kubelet']['sockets'] = [];
  for (const path of paths) {
    if (!socketFiles.some((pattern) => matchesPattern(pattern, path))) {
      partial.push({ path: 'kubelet.sockets', because: `place_not_read: ${path}` });
      continue;
    }
    const stat = await host.stat(path);
    if (!stat.ok && stat.because !== 'absent')
      partial.push({ path: 'kubelet.sockets', because: `${stat.because}: ${path}` });
    const present = stat.ok && stat.value.type === 'socket';
    const isMounted = mounted.some((dir) => `${dir}/kubelet.sock` === path);
    // Of the usual places only those that have a socket are worth a line.
    if (present || isMounted || listening?.includes(path))
      found.push({ path, present, listening: listening?.includes(path) ?? null });
  }
  return found;
}
