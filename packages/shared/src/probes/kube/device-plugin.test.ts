import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseItems, toGpuDaemonSets, toPluginPods } from './parse-device-plugin.ts';
import { parsePluginConfig } from './parse-plugin-config.ts';
import { parsePluginLog } from './parse-plugin-log.ts';
import { toPluginConfigMaps, toPluginEvents } from './parse-plugin-objects.ts';

const template = {
  metadata: { annotations: { 'cdi.k8s.io/gpus': 'management.nvidia.com/gpu=all' } },
  spec: {
    runtimeClassName: 'nvidia',
    nodeSelector: { 'nvidia.com/gpu.deploy.device-plugin': 'true' },
    tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }, { operator: 'Exists' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'In', values: ['yes'] }] }, 'x', {}],
        },
      },
    },
    containers: [
      { name: 'config-manager', image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1', command: ['config-manager'] },
      {
        name: 'nvidia-device-plugin',
        image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1-ubi9',
        args: ['--mig-strategy=single'],
        env: [
          { name: 'CONFIG_FILE', value: '/config/config.yaml' },
          { name: 'MIG_STRATEGY', valueFrom: { configMapKeyRef: { name: 'mig', key: 'strategy' } } },
          { name: 'API_TOKEN', value: 'secret' },
        ],
        volumeMounts: [{ name: 'sockets', mountPath: '/var/lib/kubelet/device-plugins' }],
      },
    ],
    volumes: [
      { name: 'sockets', hostPath: { path: '/data/kubelet/device-plugins/' } },
      { name: 'configs', configMap: { name: 'plugin-configs' } },
    ],
  },
};
const daemonSet = {
  kind: 'DaemonSet',
  metadata: {
    name: 'nvidia-device-plugin-daemonset',
    namespace: 'gpu-operator',
    labels: { 'helm.sh/chart': 'nvidia-device-plugin-0.9.0' },
    ownerReferences: [{ kind: 'ClusterPolicy', name: 'cluster-policy' }],
  },
  spec: { template },
  status: { desiredNumberScheduled: 2, numberReady: 1 },
};
const toolkit = {
  kind: 'DaemonSet',
  metadata: {
    name: 'nvidia-container-toolkit-daemonset',
    namespace: 'gpu-operator',
    ownerReferences: [{ kind: 'ClusterPolicy', name: 'cluster-policy' }],
  },
  spec: { template: { spec: { containers: [{ name: 'x', image: 'y' }] } } },
};
const features = {
  kind: 'DaemonSet',
  metadata: { name: 'nvdp-nvidia-device-plugin-gpu-feature-discovery', namespace: 'gpu' },
  spec: {
    template: { spec: { containers: [{ name: 'gpu-feature-discovery-ctr', image: 'x/k8s-device-plugin:v0.17.1' }] } },
  },
};

test('tells the plugin from its helpers, and reads what decides where and how it runs', () => {
  const { plugins, operator } = toGpuDaemonSets([daemonSet, toolkit, features]);
  expect(plugins).toHaveLength(1);
  expect(plugins[0]).toEqual({
    namespace: 'gpu-operator',
    name: 'nvidia-device-plugin-daemonset',
    chart: '0.9.0',
    ofOperator: true,
    desired: 2,
    ready: 1,
    spec: {
      image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1-ubi9',
      version: 'v0.17.1',
      runtimeClassName: 'nvidia',
      args: ['--mig-strategy=single'],
      env: { CONFIG_FILE: '/config/config.yaml', MIG_STRATEGY: null },
      cdiDevices: ['management.nvidia.com/gpu=all'],
      privileged: false,
      container: 'nvidia-device-plugin',
      socketVolume: 'sockets',
      socketHostPath: '/data/kubelet/device-plugins',
      configMaps: ['plugin-configs', 'mig'],
      nodeSelector: { 'nvidia.com/gpu.deploy.device-plugin': 'true' },
      affinity: [[{ key: 'gpu', operator: 'In', values: ['yes'], isField: false }], [], []],
      tolerations: [
        { key: 'nvidia.com/gpu', operator: 'Exists', value: null, effect: 'NoSchedule' },
        { key: null, operator: 'Exists', value: null, effect: null },
      ],
    },
  });
  expect(operator).toEqual({ namespace: 'gpu-operator', clusterPolicy: 'cluster-policy', hasToolkit: true });
  expect(toGpuDaemonSets([features]).operator).toBeNull();
});

test('reads why a pod of the plugin does not run', () => {
  const pod = {
    metadata: { name: 'nvidia-device-plugin-daemonset-x', namespace: 'kube-system' },
    spec: template.spec,
    status: {
      phase: 'Running',
      startTime: '2026-06-10T04:58:50Z',
      containerStatuses: [
        { name: 'config-manager', ready: true, restartCount: 0 },
        {
          name: 'nvidia-device-plugin',
          ready: false,
          restartCount: 7,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
          lastState: { terminated: { reason: 'Error', exitCode: 1 } },
        },
      ],
    },
  };
  expect(toPluginPods([pod, { metadata: { name: 'other' }, spec: { containers: [] } }], 0)).toMatchObject([
    {
      ready: false,
      restarts: 7,
      reason: 'CrashLoopBackOff',
      message: 'back-off 5m0s',
      startedAtMs: 1_781_067_530_000,
      spec: { version: 'v0.17.1' },
    },
  ]);
});

const stamp = '2026-06-10T04:58:50.123456789Z stderr F ';
const printed = JSON.stringify(
  {
    version: 'v1',
    flags: { migStrategy: 'single', failOnInitError: true, plugin: { deviceListStrategy: ['envvar'] } },
    sharing: { timeSlicing: { resources: [{ name: 'nvidia.com/gpu', replicas: 4 }] } },
  },
  null,
  2,
);
const log = [
  'I0610 04:58:50.000000       1 main.go:353] ',
  'Running with config:',
  ...printed.split('\n'),
  'I0610 04:58:51.000000       1 health.go:172] XidCriticalError: Xid=69 on Device=GPU-7540a9b3-1111-2222-3333-444455556666; marking device as unhealthy.',
  'E0610 04:58:51.000000       1 factory.go:112] Incompatible strategy detected auto',
  'E0610 04:59:51.000000       1 factory.go:112] Incompatible strategy detected auto',
  '2026/06/10 04:58:52 Could not contact Kubelet. Did you enable the device plugin feature gate?',
]
  .map((line) => `${stamp}${line}\n`)
  .join('');

test('reads the log of the plugin: its configuration, and each fault once', () => {
  const parsed = parsePluginLog(log);
  expect(parsed?.config).toEqual({
    migStrategy: 'single',
    failOnInitError: true,
    deviceListStrategy: ['envvar'],
    timeSlicing: { 'nvidia.com/gpu': 4 },
    mps: null,
    misplaced: [],
  });
  expect(parsed?.events).toEqual([
    {
      kind: 'unhealthy',
      device: 'GPU-7540a9b3-1111-2222-3333-444455556666',
      xid: 69,
      line: 'XidCriticalError: Xid=69 on Device=GPU-7540a9b3-1111-2222-3333-444455556666; marking device as unhealthy.',
    },
    { kind: 'no_nvml', device: null, xid: null, line: 'Incompatible strategy detected auto' },
    {
      kind: 'kubelet_socket',
      device: null,
      xid: null,
      line: 'Could not contact Kubelet. Did you enable the device plugin feature gate?',
    },
  ]);
});

test('a configuration that is cut off, or printed by something else, is not known', () => {
  expect(parsePluginLog(log.slice(0, log.indexOf('sharing')))?.config).toBeNull();
  expect(parsePluginLog('Running with config:\nnothing\n')?.config).toBeNull();
});

test('names keys that stand where the plugin does not look for them', () => {
  const config = parsePluginConfig(
    'version: v1\ntimeSlicing:\n  resources:\n  - name: nvidia.com/gpu\n    replicas: 4\n',
  );
  expect(config).toMatchObject({ timeSlicing: null, misplaced: ['timeSlicing'] });
  expect(parsePluginConfig('version: v1\nmig-configs: {}\n')).toBeNull();
  expect(parsePluginConfig('a: [')).toBeNull();
});

test('keeps only ConfigMaps that hold a configuration of the plugin', () => {
  const data = { slices: 'version: v1\nsharing: {}\n', 'notes.txt': 'hello' };
  const made = { name: 'plugin-configs', namespace: 'gpu', creationTimestamp: '2026-06-10T04:58:50Z' };
  const found = toPluginConfigMaps(
    [
      { metadata: made, data },
      { metadata: { name: 'other', namespace: 'gpu' }, data: { a: 'b' } },
    ],
    1_781_067_530_000 + 200_000,
  );
  expect(found).toMatchObject([{ name: 'plugin-configs', isFresh: false }]);
  expect(Object.keys(found[0]?.configs ?? {})).toEqual(['slices']);
});

test('keeps warnings about pods of the plugin, newest last', () => {
  const event = (object: string, time: string) => ({
    reason: 'FailedCreatePodSandBox',
    message: 'no runtime for "nvidia" is configured',
    involvedObject: { name: object },
    lastTimestamp: time,
    count: 3,
  });
  const events = toPluginEvents(
    [
      event('nvdp-b', '2026-06-10T04:58:50Z'),
      event('web-1', '2026-06-10T04:58:50Z'),
      event('nvdp-a', '2026-06-10T04:00:00Z'),
    ],
    ['nvdp'],
  );
  expect(events.map(({ object }) => object)).toEqual(['nvdp-a', 'nvdp-b']);
});

test('reads objects, configurations and logs of any shape without throwing', () => {
  const text = JSON.stringify({ items: [daemonSet, toolkit, features] });
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      const items = parseItems(text.slice(0, cut) + insert + text.slice(cut)).value ?? [];
      toGpuDaemonSets(items);
      toPluginPods(items, 0);
      parsePluginConfig(insert);
      parsePluginLog(log.slice(0, cut) + insert + log.slice(cut));
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const items = parseItems(JSON.stringify({ items: [value, { kind: 'DaemonSet', spec: value, metadata: value }] }));
      toGpuDaemonSets(items.value ?? []);
      toPluginPods(items.value ?? [], 0);
      toPluginConfigMaps(items.value ?? [], 0);
      toPluginEvents(items.value ?? [], ['a']);
    }),
  );
  expect(parsePluginLog('x'.repeat(3_000_000))).toBeNull();
});
