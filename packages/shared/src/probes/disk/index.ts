import { defaultRoot } from '../containerd/places.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { k3sDistribution, rke2Distribution } from '../k3s/distribution.ts';
import { snapCommon } from '../microk8s/microk8s-paths.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DiskFact } from './fact.ts';
import { dfArgv, mountOf, parseDf } from './parse-df.ts';

type Owner = DiskFact['dataRoots'][number]['of'];

/** Where each keeps its data when nothing says otherwise. */
const defaults: Record<Owner, string> = {
  docker: '/var/lib/docker',
  containerd: defaultRoot,
  k3s: k3sDistribution.defaultDataDir,
  rke2: rke2Distribution.defaultDataDir,
  microk8s: `${snapCommon}/var/lib/containerd`,
  crio: '/var/lib/containers/storage',
  kubelet: '/var/lib/kubelet',
  agent: '/var/lib/gpufleet',
};
const owners = Object.keys(defaults) as Owner[];
const timeoutMs = 5_000;

export const diskProbe = defineProbe({
  key: 'disk',
  title: 'Free space and inodes of local file systems, and which of them holds the data of each engine',
  everyMs: 300_000,
  after: ['docker', 'containerd', 'k3s', 'rke2', 'crio'],
  inputs: { files: Object.values(defaults), commands: [{ argv: dfArgv, required: true }] },
  async collect(context) {
    const said = await runCommand(context.host, dfArgv, timeoutMs);
    if (!said.ok) return { value: null, unreadable: { because: said.because, detail: said.detail } };
    const { value: mounts } = parseDf(said.text);
    if (mounts === null) return { value: null, unreadable: { because: 'no_answer', detail: firstLine(said.ran) } };
    const partial: Gap[] = [];
    // One broken mount makes df end with 1 and list the others.
    if (said.ran.exitCode !== 0) partial.push({ path: 'mounts', because: `incomplete: ${firstLine(said.ran)}` });
    const dataRoots: DiskFact['dataRoots'] = [];
    for (const of of owners) {
      // Podman keeps its images in the same place as CRI-O.
      if (of === 'crio' && context.earlier.crio?.value?.installed !== true) continue;
      const path = await rootOf(of, context);
      if (path !== null) dataRoots.push({ of, path, mount: mountOf(path, mounts) });
    }
    return { value: { mounts, dataRoots }, unreadable: null, partial };
  },
});

/** As the engine says, or by default; where the default leads when it is a link; null: there is none here. */
async function rootOf(of: Owner, { host, earlier }: ProbeContext): Promise<string | null> {
  const stated = statedRoot(of, earlier);
  if (stated !== null && stated !== defaults[of]) return stated;
  const path = defaults[of];
  const stat = await host.lstat(path);
  if (!stat.ok) return null;
  if (stat.value.type !== 'symlink') return path;
  const link = await host.readLink(path);
  // A relative link would need every folder on its way.
  return link.ok && link.value.startsWith('/') ? link.value.replace(/(.)\/+$/, '$1') : path;
}

/** What each engine says itself; null: it does not, or it is not here. */
function statedRoot(of: Owner, { docker, containerd, k3s, rke2 }: ProbeContext['earlier']): string | null {
  if (of === 'docker') return docker?.value?.live?.dataRoot ?? docker?.value?.config?.dataRoot ?? null;
  if (of === 'containerd') return containerd?.value?.instances?.find((one) => one.of === 'host')?.root ?? null;
  if (of === 'k3s') return k3s?.value?.dataDir ?? null;
  return of === 'rke2' ? (rke2?.value?.dataDir ?? null) : null;
}
