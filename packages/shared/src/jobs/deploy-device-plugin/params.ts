import { z } from 'zod';

/** Known to work with every driver and Kubernetes of the last years; another is asked for by `version`. */
export const pinnedVersion = 'v0.17.1';

const label = z.string().max(317);
const dnsName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/);
const folder = z.string().regex(/^(\/[\w.-]+)+$/);

export const DeployDevicePluginParams = z.strictObject({
  /** Release of the image; absent: the pinned one for a new deployment, and what is there for one that is there. */
  version: z
    .string()
    .regex(/^v?\d+\.\d+\.\d+(-[\w.]+)?$/)
    .transform((version) => `v${version.replace(/^v/, '')}`)
    .optional(),
  runtimeClassName: dnsName.optional(),
  /** Put on this host's node, so that the plugin finds it. */
  nodeLabels: z.record(label, label).optional(),
  nodeSelector: z.record(label, label).optional(),
  /** Folder of the host in which the kubelet listens for plugins. */
  hostPath: folder.optional(),
  migStrategy: z.enum(['none', 'single', 'mixed']).optional(),
  deviceListStrategy: z.enum(['envvar', 'volume-mounts', 'cdi-annotations', 'cdi-cri']).optional(),
  /** A ConfigMap beside the plugin that holds its configuration. */
  configMap: dnsName.optional(),
  /** Replicas by resource, in a ConfigMap of our own. */
  timeSlicing: z.record(z.string().regex(/^nvidia\.com\/[\w.-]+$/), z.int().min(2).max(1_000)).optional(),
  /** The plugin's pod of this node is made anew when the node does not offer what the plugin has. */
  restart: z.boolean().default(false),
  /** Host time: with `restart`, a pod that started before it is made anew whatever the node offers. */
  unlessStartedAfterMs: z.number().min(0).optional(),
  /** How a new deployment is made: through the API, or also as a manifest of k3s or RKE2 that lasts the cluster. */
  via: z.enum(['kubectl', 'manifest']).default('kubectl'),
});
export type DeployDevicePluginParams = z.infer<typeof DeployDevicePluginParams>;
