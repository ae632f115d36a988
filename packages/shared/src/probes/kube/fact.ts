import { z } from 'zod';
import { DevicePluginFact } from './device-plugin-fact.ts';

export const NodePod = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Kind of what makes it again when it is gone; null: nothing does. */
  controller: z.string().nullable(),
  /** It asks for a resource of NVIDIA's, or for a runtime of that name. */
  usesGpu: z.boolean(),
  /** Data of its own that go with it. */
  hasEmptyDir: z.boolean(),
});
export type NodePod = z.infer<typeof NodePod>;

export const KubeFact = z.object({
  /** A kubelet (or k3s, rke2, microk8s) runs here. */
  present: z.boolean(),
  /** Who brought it; null: nobody did. */
  distribution: z.enum(['k3s', 'rke2', 'microk8s', 'kubeadm']).nullable(),
  /** SHA-256 of the cluster CA certificate: equal on all hosts of one cluster. */
  clusterId: z.string().nullable(),
  controlPlane: z.boolean().nullable(),
  /** What this host may ask the API: all of it, what a kubelet may (its node and its pods), or nothing. */
  rights: z.enum(['admin', 'node', 'none']).nullable(),
  /** Socket that the kubelet uses, where it says so. */
  runtimeEndpoint: z.string().nullable(),
  kubelet: z.object({
    /** By its command line, its flags file or the settings of the distribution. */
    rootDir: z.string().nullable(),
    cgroupDriver: z.string().nullable(),
    /** Places of the socket at which device plugins register; `listening`: somebody has it open; null: not known. */
    sockets: z.array(z.object({ path: z.string(), present: z.boolean(), listening: z.boolean().nullable() })),
  }),
  /** This host's Node object; null where no kubectl with rights is here (an agent host): see `partial`. */
  node: z
    .object({
      name: z.string(),
      ready: z.boolean().nullable(),
      unschedulable: z.boolean(),
      labels: z.record(z.string(), z.string()),
      taints: z.array(z.object({ key: z.string(), value: z.string().nullable(), effect: z.string() })),
      /** Quantity text by resource; a resource that is not listed is unknown to the node, not zero. */
      capacity: z.record(z.string(), z.string()),
      allocatable: z.record(z.string(), z.string()),
      containerRuntimeVersion: z.string().nullable(),
      kubeletVersion: z.string().nullable(),
    })
    .nullable(),
  runtimeClasses: z.array(z.object({ name: z.string(), handler: z.string() })).nullable(),
  /** Pods of this node that have not ended, but for those of DaemonSets and of the kubelet itself: what a drain hits. */
  pods: z.array(NodePod).nullable(),
  devicePlugin: DevicePluginFact,
  /** NVIDIA's GPU operator, by its DaemonSets; null: there is none, or they could not be listed (see `partial`). */
  operator: z
    .object({ namespace: z.string(), clusterPolicy: z.string().nullable(), hasToolkit: z.boolean() })
    .nullable(),
  /** Warnings about pods of the device plugin; asked for only while one of them is not ready, else null. */
  events: z
    .array(
      z.object({
        reason: z.string(),
        object: z.string(),
        message: z.string(),
        count: z.int(),
        lastAtMs: z.number().nullable(),
      }),
    )
    .nullable(),
});
export type KubeFact = z.infer<typeof KubeFact>;
