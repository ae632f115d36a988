import { uidOfPod } from '../classes/workloads.ts';
import type { DevicePlugin, Kubernetes, Machine, SimulatedPod } from '../machine.ts';
import { affinityTerms, pluginPodName, pluginPodUid, pluginStartedAtMs, pluginState } from './device-plugin-log.ts';

/** DaemonSets of the cluster: that of the plugin, and one that any cluster has. */
export function daemonSets(machine: Machine, kubernetes: Kubernetes): object[] {
  const plugin = kubernetes.devicePlugin;
  return [...(plugin ? [pluginDaemonSet(machine, plugin)] : []), proxyDaemonSet(machine)];
}

export function podsOfNode(machine: Machine, kubernetes: Kubernetes): object[] {
  const plugin = kubernetes.devicePlugin;
  const state = pluginState(machine);
  const own = plugin && state !== 'none' && state !== 'not_scheduled' ? [pluginPod(machine, kubernetes, plugin)] : [];
  const others = kubernetes.pods.filter(({ isPending }) => !isPending);
  return [...own, proxyPod(machine, kubernetes), ...others.map((pod) => workloadPod(machine, kubernetes, pod))];
}

function pluginDaemonSet(machine: Machine, plugin: DevicePlugin): object {
  const state = pluginState(machine);
  const desired = state === 'none' || state === 'not_scheduled' ? 0 : 1;
  const ready = state === 'running' || state === 'blind' ? desired : 0;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      annotations: {
        'deprecated.daemonset.template.generation': '1',
        ...(plugin.chart === null ? {} : { 'meta.helm.sh/release-name': 'nvdp' }),
      },
      creationTimestamp: madeAt(machine),
      generation: 1,
      labels:
        plugin.chart === null
          ? { 'app.kubernetes.io/name': plugin.name, 'app.kubernetes.io/managed-by': 'gpufleet' }
          : {
              'app.kubernetes.io/instance': 'nvdp',
              'app.kubernetes.io/managed-by': 'Helm',
              'app.kubernetes.io/name': 'nvidia-device-plugin',
              'app.kubernetes.io/version': plugin.chart,
              'helm.sh/chart': `nvidia-device-plugin-${plugin.chart}`,
            },
      name: plugin.name,
      namespace: plugin.namespace,
      resourceVersion: machine.random.digits('daemonset/plugin', 6),
      uid: machine.random.uuid('daemonset/plugin'),
    },
    spec: {
      revisionHistoryLimit: 10,
      selector: { matchLabels: labelsOf(plugin) },
      template: {
        metadata: { creationTimestamp: null, labels: labelsOf(plugin) },
        spec: { ...pluginSpec(plugin), ...(plugin.chart === null ? {} : { affinity: chartAffinity }) },
      },
      updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 }, type: 'RollingUpdate' },
    },
    status: {
      currentNumberScheduled: desired,
      desiredNumberScheduled: desired,
      ...(ready ? { numberAvailable: ready } : {}),
      numberMisscheduled: 0,
      numberReady: ready,
      observedGeneration: 1,
      updatedNumberScheduled: desired,
    },
  };
}

function labelsOf({ chart, name }: DevicePlugin): Record<string, string> {
  if (chart === null) return { 'app.kubernetes.io/name': name };
  return { 'app.kubernetes.io/instance': 'nvdp', 'app.kubernetes.io/name': 'nvidia-device-plugin' };
}

const chartAffinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: affinityTerms.map(({ key, value }) => ({
        matchExpressions: [{ key, operator: 'In', values: [value] }],
      })),
    },
  },
};

function pluginSpec(plugin: DevicePlugin) {
  const env = {
    MPS_ROOT: '/run/nvidia/mps',
    MIG_STRATEGY: plugin.migStrategy,
    ...(plugin.migStrategy === 'none' ? {} : { NVIDIA_MIG_MONITOR_DEVICES: 'all' }),
    NVIDIA_VISIBLE_DEVICES: 'all',
    NVIDIA_DRIVER_CAPABILITIES: 'compute,utility',
    ...plugin.env,
  };
  return {
    containers: [
      {
        command: ['nvidia-device-plugin'],
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
        image: `nvcr.io/nvidia/k8s-device-plugin:${plugin.version}`,
        imagePullPolicy: 'IfNotPresent',
        name: 'nvidia-device-plugin-ctr',
        resources: {},
        securityContext:
          plugin.migStrategy === 'none'
            ? { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
            : { capabilities: { add: ['SYS_ADMIN'] } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        volumeMounts: [
          { mountPath: '/var/lib/kubelet/device-plugins', name: 'device-plugin' },
          { mountPath: '/dev/shm', name: 'mps-shm' },
          { mountPath: '/mps', name: 'mps-root' },
          { mountPath: '/var/run/cdi', name: 'cdi-root' },
          ...(plugin.configMap === null ? [] : [{ mountPath: '/config', name: 'gpufleet-config' }]),
        ],
      },
    ],
    dnsPolicy: 'ClusterFirst',
    priorityClassName: 'system-node-critical',
    restartPolicy: 'Always',
    ...(Object.keys(plugin.nodeSelector).length > 0 ? { nodeSelector: plugin.nodeSelector } : {}),
    ...(plugin.runtimeClassName ? { runtimeClassName: plugin.runtimeClassName } : {}),
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    tolerations: [
      ...(plugin.chart === null ? [] : [{ key: 'CriticalAddonsOnly', operator: 'Exists' }]),
      { effect: 'NoSchedule', key: 'nvidia.com/gpu', operator: 'Exists' },
    ],
    volumes: [
      { hostPath: { path: plugin.hostPath, type: '' }, name: 'device-plugin' },
      { hostPath: { path: '/run/nvidia/mps', type: 'DirectoryOrCreate' }, name: 'mps-root' },
      { hostPath: { path: '/run/nvidia/mps/shm', type: '' }, name: 'mps-shm' },
      { hostPath: { path: '/var/run/cdi', type: 'DirectoryOrCreate' }, name: 'cdi-root' },
      ...(plugin.configMap === null ? [] : [{ configMap: { name: plugin.configMap }, name: 'gpufleet-config' }]),
    ],
  };
}

function pluginPod(machine: Machine, kubernetes: Kubernetes, plugin: DevicePlugin): object {
  const state = pluginState(machine);
  const isUp = state === 'running' || state === 'blind';
  const startedAt = seconds(pluginStartedAtMs(machine));
  const image = `nvcr.io/nvidia/k8s-device-plugin:${plugin.version}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      creationTimestamp: madeAt(machine),
      generateName: `${plugin.name}-`,
      labels: labelsOf(plugin),
      name: pluginPodName(machine),
      namespace: plugin.namespace,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          blockOwnerDeletion: true,
          controller: true,
          kind: 'DaemonSet',
          name: plugin.name,
          uid: machine.random.uuid('daemonset/plugin'),
        },
      ],
      resourceVersion: machine.random.digits('pod/plugin', 6),
      uid: pluginPodUid(machine),
    },
    spec: { ...pluginSpec(plugin), nodeName: kubernetes.nodeName },
    status: {
      conditions: [{ lastProbeTime: null, status: isUp ? 'True' : 'False', type: 'Ready' }],
      containerStatuses: [
        {
          image,
          imageID: isUp ? `nvcr.io/nvidia/k8s-device-plugin@sha256:${machine.random.hex('plugin/image', 64)}` : '',
          lastState: {},
          name: 'nvidia-device-plugin-ctr',
          ready: isUp,
          restartCount: 0,
          started: isUp,
          state: isUp ? { running: { startedAt } } : { waiting: { reason: 'ContainerCreating' } },
        },
      ],
      hostIP: '10.0.0.11',
      phase: isUp ? 'Running' : 'Pending',
      podIP: '10.42.0.17',
      qosClass: 'BestEffort',
      startTime: startedAt,
    },
  };
}

function workloadPod(machine: Machine, kubernetes: Kubernetes, pod: SimulatedPod): object {
  const { namespace, name, controller, usesGpu, hasEmptyDir } = pod;
  const owner = { apiVersion: 'apps/v1', controller: true, kind: controller, name: name.replace(/-[^-]+$/, '') };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      creationTimestamp: madeAt(machine),
      labels: { app: owner.name },
      name,
      namespace,
      ...(controller === null ? {} : { ownerReferences: [owner] }),
      uid: uidOfPod(machine, pod),
    },
    spec: {
      containers: [
        {
          image: 'example.com/team/inference:1.4',
          name: 'main',
          resources: usesGpu ? { limits: { 'nvidia.com/gpu': '1' }, requests: { 'nvidia.com/gpu': '1' } } : {},
        },
      ],
      nodeName: kubernetes.nodeName,
      ...(usesGpu ? { runtimeClassName: 'nvidia' } : {}),
      ...(hasEmptyDir ? { volumes: [{ emptyDir: {}, name: 'scratch' }] } : {}),
    },
    status: {
      conditions: [{ lastProbeTime: null, status: 'True', type: 'Ready' }],
      containerStatuses: [
        {
          image: 'example.com/team/inference:1.4',
          lastState: {},
          name: 'main',
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: seconds(machine.boot.atMs + 95_000) } },
        },
      ],
      phase: 'Running',
      startTime: seconds(machine.boot.atMs + 90_000),
    },
  };
}

function proxyDaemonSet(machine: Machine): object {
  const labels = { 'k8s-app': 'log-shipper' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { creationTimestamp: madeAt(machine), labels, name: 'log-shipper', namespace: 'kube-system' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: proxySpec } },
    status: { currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0, numberReady: 1 },
  };
}

const proxySpec = {
  containers: [{ image: 'registry.example.com/log-shipper:2.1', name: 'log-shipper', resources: {} }],
  tolerations: [{ operator: 'Exists' }],
};

function proxyPod(machine: Machine, kubernetes: Kubernetes): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      creationTimestamp: madeAt(machine),
      labels: { 'k8s-app': 'log-shipper' },
      name: `log-shipper-${machine.random.hex('pod/log-shipper', 5)}`,
      namespace: 'kube-system',
      ownerReferences: [{ apiVersion: 'apps/v1', controller: true, kind: 'DaemonSet', name: 'log-shipper' }],
      uid: machine.random.uuid('pod/log-shipper'),
    },
    spec: { ...proxySpec, nodeName: kubernetes.nodeName },
    status: {
      containerStatuses: [
        {
          image: 'registry.example.com/log-shipper:2.1',
          lastState: {},
          name: 'log-shipper',
          ready: true,
          restartCount: 1,
          state: { running: { startedAt: seconds(machine.boot.atMs + 50_000) } },
        },
      ],
      phase: 'Running',
      startTime: seconds(machine.boot.atMs + 50_000),
    },
  };
}

function madeAt(machine: Machine): string {
  return seconds(machine.boot.atMs - 86_400_000 * 40);
}

function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
