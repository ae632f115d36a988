import type { FactValue } from '../probes/facts.ts';
import { reason } from './plan-parts.ts';
import type { Holder, KubeAccess, PlanReason, Step, StepOf } from './step.ts';

type Kube = FactValue<'kube'>;

/** How this host asks the API to change something; or why it cannot. */
export type Cluster =
  | { ok: true; access: KubeAccess; node: NonNullable<Kube['node']> }
  | { ok: false; because: PlanReason };

export function clusterOf(kube: Kube): Cluster {
  const no = (because: string, detail: string): Cluster => ({ ok: false, because: reason(because, detail) });
  if (!kube.present || kube.distribution === null) return no('no_kubernetes', 'this host is in no cluster');
  if (kube.rights !== 'admin') {
    const cluster = kube.clusterId === null ? 'its cluster' : `the cluster ${kube.clusterId}`;
    return no(
      'no_cluster_rights',
      `this host may not change objects of ${cluster}: run the job on a server host with the same cluster.id`,
    );
  }
  if (kube.node === null) return no('api_not_answering', 'the API did not tell of this host’s node');
  return { ok: true, access: kube.distribution, node: kube.node };
}

export interface DrainChoice {
  pods: StepOf<'drain_node'>['pods'];
  emptyDir: StepOf<'drain_node'>['emptyDir'];
  unmanaged: StepOf<'drain_node'>['unmanaged'];
  timeoutMs: number;
}

/** Steps that take pods off this node before others, and let them come back after those. */
export type Drain = { ok: true; before: Step[]; after: Step[]; holders: Holder[] } | { ok: false; because: PlanReason };

export function drainOf(kube: Kube, choice: DrainChoice): Drain {
  const cluster = clusterOf(kube);
  if (!cluster.ok) return cluster;
  const { access, node } = cluster;
  if (kube.pods === null)
    return { ok: false, because: reason('fact_unreadable', 'the pods of this node are not known') };
  const pods = kube.pods.filter(({ usesGpu }) => choice.pods === 'all' || usesGpu);
  const names = (found: typeof pods) => found.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
  const lost = choice.unmanaged === 'delete' ? [] : pods.filter(({ controller }) => controller === null);
  if (lost.length > 0)
    return { ok: false, because: reason('pod_unmanaged', `nothing would make again: ${names(lost)}`) };
  const emptied = choice.emptyDir === 'delete' ? [] : pods.filter(({ hasEmptyDir }) => hasEmptyDir);
  if (emptied.length > 0)
    return { ok: false, because: reason('pod_has_local_data', `the emptyDir would go with: ${names(emptied)}`) };
  const of = { access, node: node.name };
  // A node that a person has cordoned stays so afterwards.
  const isCordoned = node.unschedulable;
  return {
    ok: true,
    before: [...(isCordoned ? [] : [{ do: 'cordon_node' as const, ...of }]), { do: 'drain_node', ...of, ...choice }],
    after: isCordoned ? [] : [{ do: 'uncordon_node', ...of }],
    holders: pods.map(({ namespace, name }) => ({
      type: 'pod',
      name: `${namespace}/${name}`,
      pid: null,
      gpuUuid: null,
    })),
  };
}
