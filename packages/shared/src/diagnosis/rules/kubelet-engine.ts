import type { FactValue } from '../../probes/facts.ts';
import { kubeletUsesHostContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { crictlSource, rootPath } from './containerd-parts.ts';
import { crioLive, crioRoot, kubeletUsesCrio } from './crio-parts.ts';
import { rancherTitles } from './k3s-parts.ts';

export const engineKeys = ['kube', 'k3s', 'rke2', 'microk8s', 'crio', 'containerd'] as const;
export type EngineFacts = { [K in (typeof engineKeys)[number]]: FactValue<K> };

/** What runs the pods of this host's kubelet, and with which runtimes: asked live, else by its files. */
export interface KubeletEngine {
  title: string;
  names: string[];
  defaultRuntime: string | null;
  source: string;
}

/** null: no engine that is known here, or its runtimes are not known. */
export function kubeletEngine(facts: EngineFacts): KubeletEngine | null {
  const { kube, k3s, rke2, microk8s, crio, containerd } = facts;
  for (const [name, own, live] of [
    ['k3s', k3s, sources.k3sCrictl],
    ['rke2', rke2, sources.rke2Crictl],
  ] as const)
    if (own.installed && own.role !== null) return engineOf(rancherTitles[name], own, live);
  if (microk8s.installed) return engineOf('MicroK8s', microk8s, sources.microk8sCrictl);
  if (kubeletUsesCrio(kube)) {
    if (!crio.installed) return null;
    const live = crioLive(crio);
    const own = { live: crio.live, rendered: crio, renderedFile: { path: crioRoot(crio) } };
    return engineOf('CRI-O', own, live?.source ?? '');
  }
  if (!kubeletUsesHostContainerd(facts)) return null;
  const { live, effective } = containerd;
  const known = live?.runtimes ? { runtimes: live.runtimes, defaultRuntime: live.defaultRuntime } : null;
  return engineOf(
    'containerd',
    { live: known, rendered: effective, renderedFile: { path: rootPath(containerd) } },
    crictlSource(containerd),
  );
}

interface Own {
  live: Known | null;
  rendered: Known | null;
  renderedFile: { path: string };
}
type Known = { runtimes: readonly { name: string }[]; defaultRuntime: string | null };

function engineOf(title: string, own: Own, liveSource: string): KubeletEngine | null {
  const known = own.live ?? own.rendered;
  if (known === null) return null;
  return {
    title,
    names: known.runtimes.map(({ name }) => name),
    defaultRuntime: known.defaultRuntime,
    source: own.live ? liveSource : sources.file(own.renderedFile.path),
  };
}

/** MicroK8s and some guides name the handler after the program. */
export function isNvidiaHandler(name: string | null): boolean {
  return name !== null && /^nvidia(-cdi|-legacy|-experimental|-container-runtime.*)?$/.test(name);
}
