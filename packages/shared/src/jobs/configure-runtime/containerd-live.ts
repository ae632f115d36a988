import type { ContainerdFact } from '../../probes/containerd/fact.ts';
import type { KubeFact } from '../../probes/kube/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason } from '../step.ts';
import type { ConfigureRuntimeParams } from './params.ts';

/** Whether runtimes beside runc must leave cgroups to systemd: as the kubelet does, or as runc itself was told to. */
export function usesSystemd(containerd: ContainerdFact, kube: KubeFact): boolean {
  // k3s, rke2 and MicroK8s have a containerd of their own: their kubelet says nothing about this one.
  if (kube.distribution === 'kubeadm' && kube.kubelet.cgroupDriver === 'systemd') return true;
  const runc = containerd.effective?.runtimes.find(({ name }) => name === 'runc');
  return runc?.systemdCgroup === true;
}

/** What the running daemon does not have of what was asked; the verification asks the same. */
export function whatLiveLacks(
  { containerd, kube }: { containerd: ContainerdFact; kube: KubeFact },
  params: ConfigureRuntimeParams,
  binary: string | null,
): PlanReason[] {
  const { live, unit, files } = containerd;
  if (live === null) return [reason('daemon_not_answering', 'neither crictl nor ctr get an answer')];
  if (!live.criReady) return [reason('cri_not_ready', 'the CRI plugin is not loaded')];
  const name = params.runtimeName;
  const lacks: PlanReason[] = [];
  if (live.runtimes === null) {
    // ctr cannot list runtimes: what was read at the start is all there is to go by.
    const stale = files.some((file) => isNewerThanStart(file.mtimeMs, unit));
    if (stale) lacks.push(reason('started_before_files', 'containerd was started before its files were changed'));
    return lacks;
  }
  const entry = live.runtimes.find((runtime) => runtime.name === name);
  if (!entry) lacks.push(reason('live_lacks_runtime', `crictl info does not list ${name}`));
  else if (binary !== null && entry.binary !== null && entry.binary !== binary)
    lacks.push(reason('live_binary_differs', `the running containerd uses ${entry.binary} for ${name}`));
  const runc = live.runtimes.find((runtime) => runtime.name === 'runc');
  // Some daemons tell only the names: an entry without a type says nothing of its options either.
  const isTold = entry !== undefined && entry.type !== null;
  if (isTold && entry.systemdCgroup !== true && (runc?.systemdCgroup || usesSystemd(containerd, kube)))
    lacks.push(reason('live_cgroup_differs', `${name} does not leave cgroups to systemd, as the other runtimes do`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (live.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `containerd's default runtime is ${live.defaultRuntime ?? 'not told'}`));
  return lacks;
}
