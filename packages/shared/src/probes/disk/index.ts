import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { DiskFact } from './fact.ts';
import { dfArgv, mountOf, parseDf } from './parse-df.ts';

type Owner = DiskFact['dataRoots'][number]['of'];

/** Where each keeps its data when nothing says otherwise. */
const defaults: Record<Owner, string> = {
  docker: '/var/lib/docker',
  containerd: '/var/lib/containerd',
  k3s: '/var/lib/rancher/k3s',
  kubelet: '/var/lib/kubelet',
  agent: '/var/lib/gpufleet',
};
const owners = Object.keys(defaults) as Owner[];
const timeoutMs = 5_000;

export const diskProbe = defineProbe({
  key: 'disk',
  title: 'Free space and inodes of local file systems, and which of them holds the data of each engine',
  everyMs: 300_000,
  after: ['docker'],
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

function statedRoot(of: Owner, { docker }: ProbeContext['earlier']): string | null {
  if (of !== 'docker') return null;
  return docker?.value?.live?.dataRoot ?? docker?.value?.config?.dataRoot ?? null;
}
