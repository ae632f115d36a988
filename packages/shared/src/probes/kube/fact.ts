import { z } from 'zod';

export const KubeFact = z.object({
  /** A kubelet (or k3s, rke2, microk8s) runs here. */
  present: z.boolean(),
  /** SHA-256 of the cluster CA certificate: equal on all hosts of one cluster. */
  clusterId: z.string().nullable(),
  controlPlane: z.boolean().nullable(),
  /** Socket that the kubelet uses, where it says so. */
  runtimeEndpoint: z.string().nullable(),
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
});
export type KubeFact = z.infer<typeof KubeFact>;
