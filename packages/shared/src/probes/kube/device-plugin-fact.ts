import { z } from 'zod';

/** What a pod template, or a pod, says of NVIDIA's device plugin. */
const Spec = z.object({
  /** Name of its container. */
  container: z.string().nullable(),
  image: z.string().nullable(),
  /** Tag of the image: v0.17.1; null for a digest or none. */
  version: z.string().nullable(),
  runtimeClassName: z.string().nullable(),
  args: z.array(z.string()),
  /** Values of the plugin's own variables (MIG_STRATEGY, CONFIG_FILE …); null: the value comes from elsewhere. */
  env: z.record(z.string(), z.string().nullable()),
  /** Devices of CDI that are put into its pod by annotation. */
  cdiDevices: z.array(z.string()),
  privileged: z.boolean(),
  /** Folder of the host that it mounts as the place of the kubelet's sockets. */
  socketHostPath: z.string().nullable(),
  /** Name of the volume that is. */
  socketVolume: z.string().nullable(),
  /** ConfigMaps that it mounts or takes variables from. */
  configMaps: z.array(z.string()),
  nodeSelector: z.record(z.string(), z.string()),
  /** Required node affinity: one of the terms must hold, and in it every expression. */
  affinity: z.array(
    z.array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()), isField: z.boolean() })),
  ),
  tolerations: z.array(
    z.object({
      key: z.string().nullable(),
      operator: z.string(),
      value: z.string().nullable(),
      effect: z.string().nullable(),
    }),
  ),
});
export type PluginSpec = z.infer<typeof Spec>;

export const PluginDaemonSet = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Version of the Helm chart that made it; null: no chart did. */
  chart: z.string().nullable(),
  /** The GPU operator keeps it. */
  ofOperator: z.boolean(),
  /** Nodes on which it should run, all over the cluster. */
  desired: z.int().nullable(),
  ready: z.int().nullable(),
  spec: Spec,
});
export type PluginDaemonSet = z.infer<typeof PluginDaemonSet>;

export const PluginPod = z.object({
  namespace: z.string(),
  name: z.string(),
  phase: z.string(),
  ready: z.boolean(),
  restarts: z.int().nullable(),
  startedAtMs: z.number().nullable(),
  /** Its container came up in the last two minutes: the kubelet may not have counted its devices yet. */
  isFresh: z.boolean(),
  /** Why it waits (CrashLoopBackOff, CreateContainerError) or why its last run ended (Error, OOMKilled). */
  reason: z.string().nullable(),
  message: z.string().nullable(),
  spec: Spec,
});
export type PluginPod = z.infer<typeof PluginPod>;

/** What a line of the plugin's log says, as a closed list. */
export const PluginLogEvent = z.object({
  kind: z.enum([
    'no_nvml',
    'unknown_platform',
    'no_devices',
    'unhealthy',
    'mig_layout',
    'kubelet_socket',
    'config_invalid',
  ]),
  /** GPU or MIG device that the line names. */
  device: z.string().nullable(),
  xid: z.int().nullable(),
  /** The line without its time stamp. */
  line: z.string(),
});
export type PluginLogEvent = z.infer<typeof PluginLogEvent>;

/** The part of a plugin's configuration that decides what a node offers. Null: not stated. */
export const PluginConfig = z.object({
  migStrategy: z.string().nullable(),
  failOnInitError: z.boolean().nullable(),
  deviceListStrategy: z.array(z.string()).nullable(),
  /** Replicas by resource, of time slicing or of MPS. */
  timeSlicing: z.record(z.string(), z.int()).nullable(),
  mps: z.record(z.string(), z.int()).nullable(),
  /** Known keys at a level where the plugin does not look for them: dotted paths. */
  misplaced: z.array(z.string()),
});
export type PluginConfig = z.infer<typeof PluginConfig>;

export const PluginLog = z.object({
  namespace: z.string(),
  pod: z.string(),
  container: z.string(),
  /** `file:/var/log/pods/…/0.log` or the command that gave it. */
  source: z.string(),
  /** The configuration that it printed when it started. */
  config: PluginConfig.nullable(),
  events: z.array(PluginLogEvent),
  /** The last lines, oldest first. */
  lastLines: z.array(z.string()),
});
export type PluginLog = z.infer<typeof PluginLog>;

export const DevicePluginFact = z.object({
  /** Of the whole cluster; null where this host may not list them: see `partial`. */
  daemonSets: z.array(PluginDaemonSet).nullable(),
  /** Those of this node. */
  pods: z.array(PluginPod).nullable(),
  /** By the log files that the kubelet keeps here, or by the API where there are none. */
  logs: z.array(PluginLog),
  /** ConfigMaps beside a DaemonSet of the plugin that hold configurations for it, by key. */
  configMaps: z
    .array(
      z.object({
        namespace: z.string(),
        name: z.string(),
        /** Made in the last two minutes: the kubelet may not have handed it out yet. */
        isFresh: z.boolean(),
        configs: z.record(z.string(), PluginConfig),
      }),
    )
    .nullable(),
});
export type DevicePluginFact = z.infer<typeof DevicePluginFact>;
