import type { FactValue } from '../../probes/facts.ts';

type Crio = FactValue<'crio'>;

/** A kubelet here runs its pods by CRI-O. */
export function kubeletUsesCrio(kube: FactValue<'kube'>): boolean {
  if (!kube.present) return false;
  return (
    /\/crio\/crio\.sock$/.test(kube.runtimeEndpoint ?? '') ||
    (kube.node?.containerRuntimeVersion?.startsWith('cri-o://') ?? false)
  );
}

export function crioRoot(crio: Crio): string {
  return crio.files.find(({ present }) => present)?.path ?? '/etc/crio/crio.conf';
}

/** What the live daemon runs with; of older releases the second program tells it. */
export function crioLive(crio: Crio): { source: string; names: string[] } | null {
  const old = /^1\.(1\d|2\d)\./.test(crio.version ?? '');
  const source = `command:${old ? 'crio-status config' : 'crio status config'}`;
  return crio.live && { source, names: crio.live.runtimes.map(({ name }) => name) };
}
