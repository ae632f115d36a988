import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

/** Whose kubectl, with which rights, asks the API: each distribution has its own. */
export const KubeAccess = z.enum(['k3s', 'rke2', 'microk8s', 'kubeadm']);
export type KubeAccess = z.infer<typeof KubeAccess>;

const ofNode = { access: KubeAccess, node: z.string() };

/** No new pods on the node. One that somebody else has cordoned is left as it is. */
export const CordonNode = z.object({ do: z.literal('cordon_node'), ...ofNode });
export type CordonNode = z.infer<typeof CordonNode>;
/** Takes back a cordon of ours, and nobody else's. */
export const UncordonNode = z.object({ do: z.literal('uncordon_node'), ...ofNode });
export type UncordonNode = z.infer<typeof UncordonNode>;

/** Evicts pods, which their disruption budgets may forbid; those of DaemonSets and of the kubelet itself stay. */
export const DrainNode = z.object({
  do: z.literal('drain_node'),
  ...ofNode,
  pods: z.enum(['gpu', 'all']),
  /** Pods whose emptyDir goes with them. */
  emptyDir: z.enum(['refuse', 'delete']),
  /** Pods that nothing makes again. */
  unmanaged: z.enum(['refuse', 'delete']),
  timeoutMs: z.int(),
});
export type DrainNode = z.infer<typeof DrainNode>;

const KubeObject = z.record(z.string(), z.json());
export type KubeObject = z.infer<typeof KubeObject>;

/**
 * Keys of an object of the cluster. `from` and `to` hold our keys only: what is in one and not in the other is absent
 * there. null: there is no such object.
 */
export const SetObject = z.object({
  do: z.literal('set_object'),
  access: KubeAccess,
  kind: z.enum(['RuntimeClass', 'Namespace', 'ConfigMap', 'DaemonSet', 'Node']),
  namespace: z.string().nullable(),
  name: z.string(),
  from: KubeObject.nullable(),
  to: KubeObject.nullable(),
});
export type SetObject = z.infer<typeof SetObject>;

/** What was there just before, as the executor read it: `to` is somebody else's doing then. */
export const ObjectBefore = z.object({ state: z.enum(['from', 'to', 'other']), object: KubeObject.nullable() });
export type ObjectBefore = z.infer<typeof ObjectBefore>;

/** Pods of a DaemonSet on one node are deleted, and made again by it. */
export const ReplacePods = z.object({
  do: z.literal('replace_pods'),
  ...ofNode,
  namespace: z.string(),
  daemonSet: z.string(),
  timeoutMs: z.int(),
});
export type ReplacePods = z.infer<typeof ReplacePods>;

export const kubeSteps: {
  cordon_node: StepKind<CordonNode>;
  uncordon_node: StepKind<UncordonNode>;
  drain_node: StepKind<DrainNode>;
  set_object: StepKind<SetObject>;
  replace_pods: StepKind<ReplacePods>;
} = {
  cordon_node: {
    ...quiet,
    subject: ({ node }) => node,
    phase: 'draining',
    suspends: true,
    inverse: ({ access, node }, { before }) =>
      isCordonedByOthers(before) ? [] : [{ do: 'uncordon_node', access, node }],
  },
  // Going back, the inverse of the cordon comes last: there is nothing that another cordon would be for.
  uncordon_node: { ...quiet, subject: ({ node }) => node, inverse: () => [] },
  drain_node: {
    ...quiet,
    subject: ({ node, pods }) => `${node} (${pods === 'gpu' ? 'pods with GPUs' : 'all pods'})`,
    phase: 'draining',
    disruption: () => 'restarts_containers',
    downtimeMs: () => 60_000,
    // Whoever made the pods makes them again.
    inverse: () => [],
  },
  set_object: {
    ...quiet,
    subject: ({ kind, namespace, name }) => `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`,
    inverse: (step, { before }) => inverseOfObject(step, before),
  },
  replace_pods: {
    ...quiet,
    subject: ({ namespace, daemonSet, node }) => `${namespace}/${daemonSet} on ${node}`,
    phase: 'restarting',
    downtimeMs: () => 10_000,
    inverse: () => [],
  },
};

function isCordonedByOthers(before: unknown): boolean {
  const read = z.object({ unschedulable: z.boolean() }).safeParse(before);
  return read.success && read.data.unschedulable;
}

function inverseOfObject(step: SetObject, before: unknown): SetObject[] {
  const was = ObjectBefore.safeParse(before);
  if (was.success && was.data.state === 'to') return [];
  // Of an object that was deleted, all of it comes back: more than the plan knew.
  const from = step.to === null && was.success ? (was.data.object ?? step.from) : step.from;
  return [{ ...step, from: step.to, to: from }];
}
