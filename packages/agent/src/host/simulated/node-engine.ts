import type { Machine } from './machine.ts';

/** What runs the pods of this machine's kubelet. */
export interface NodeEngine {
  handlers: string[];
  defaultRuntime: string;
  /** As the node tells it: `containerd://1.7.27`. */
  version: string;
}

/** Of the containerd that k3s and rke2 bring, and of the one in the snap of MicroK8s. */
const broughtVersions = { k3s: '2.1.4-k3s1', microk8s: '1.7.27' } as const;

/** null: nothing answers to the kubelet. */
export function nodeEngine(machine: Machine): NodeEngine | null {
  const { crio, k3s, microk8s, containerd } = machine.live;
  if (crio)
    return {
      handlers: Object.keys(crio.runtimes),
      defaultRuntime: crio.defaultRuntime,
      version: `cri-o://${machine.versions.crio}`,
    };
  const cri = (k3s ?? microk8s ?? containerd)?.cri;
  if (cri?.state !== 'ok') return null;
  const version = k3s ? broughtVersions.k3s : microk8s ? broughtVersions.microk8s : machine.versions.containerd;
  return {
    handlers: Object.keys(cri.runtimes),
    defaultRuntime: cri.defaultRuntime,
    version: `containerd://${version}`,
  };
}
