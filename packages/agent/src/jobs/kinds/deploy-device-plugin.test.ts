import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import type { FaultSpec, SimulatedClass } from '../../host/simulated/index.ts';
import type { DevicePlugin, Kubernetes } from '../../host/simulated/machine.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';
import { hostState } from '../testing/host-state.ts';

function clusterOf({ host }: Bench): Kubernetes {
  const { kubernetes } = host.machine;
  if (!kubernetes) throw new Error('the class is of a cluster');
  return kubernetes;
}

function pluginOf(bench: Bench): DevicePlugin {
  const { devicePlugin } = clusterOf(bench);
  if (!devicePlugin) throw new Error('the cluster has the plugin');
  return devicePlugin;
}

const deploy = (params: JobRequest['params']): JobRequest => ({ kind: 'deploy_device_plugin', params });

function withoutPlugin(hostClass: SimulatedClass): Bench {
  const bench = aBench(hostClass);
  clusterOf(bench).devicePlugin = null;
  return bench;
}

/** Runs it, plans it again, undoes it: the cluster is as before. */
async function wholeWay(bench: Bench, params: JobRequest['params'], check: (bench: Bench) => void): Promise<void> {
  const before = hostState(bench.host.machine);
  const engine = bench.engine();
  const result = await engine.runLocal(deploy(params));
  expect(result, JSON.stringify(result.because)).toMatchObject({ outcome: 'succeeded' });
  check(bench);
  const again = await engine.runLocal(deploy(params));
  expect(again, JSON.stringify(again.because)).toMatchObject({ outcome: 'noop' });
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(hostState(bench.host.machine)).toEqual(before);
  expect(bench.log.errors).toEqual([]);
}

test.each(['k3s-server', 'rke2-server', 'microk8s-server'] as const)(
  'deploys the plugin on %s, sees the node offer its GPUs, and takes all of it back',
  (hostClass) =>
    wholeWay(withoutPlugin(hostClass), {}, (bench) =>
      expect(pluginOf(bench)).toMatchObject({
        namespace: 'kube-system',
        version: 'v0.17.1',
        runtimeClassName: 'nvidia',
      }),
    ),
);

test('as a manifest it is also in the folder that k3s deploys from', async () => {
  const path = '/var/lib/rancher/k3s/server/manifests/gpufleet-nvidia-device-plugin.yaml';
  await wholeWay(withoutPlugin('k3s-server'), { via: 'manifest', version: '0.18.0' }, ({ host }) =>
    expect(host.machine.files.text(path)).toContain('"image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.0"'),
  );
  const onMicrok8s = withoutPlugin('microk8s-server');
  expect(await onMicrok8s.engine().runLocal(deploy({ via: 'manifest' }))).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'unsupported_params' }],
  });
});

const changes: [string, SimulatedClass, FaultSpec[], JobRequest['params'], Partial<DevicePlugin>][] = [
  [
    'a RuntimeClass',
    'k3s-server',
    ['plugin_without_runtime_class'],
    { runtimeClassName: 'nvidia' },
    { runtimeClassName: 'nvidia' },
  ],
  [
    'a way to hand out GPUs',
    'rke2-server',
    [],
    { deviceListStrategy: 'volume-mounts' },
    { env: { DEVICE_LIST_STRATEGY: 'volume-mounts' } },
  ],
  [
    'a selector',
    'k3s-server',
    [],
    { nodeSelector: { 'nvidia.com/gpu.present': 'true' } },
    { nodeSelector: { 'nvidia.com/gpu.present': 'true' } },
  ],
  [
    'the folder of the kubelet',
    'microk8s-server',
    [],
    { hostPath: '/var/snap/microk8s/common/var/lib/kubelet/device-plugins' },
    { hostPath: '/var/snap/microk8s/common/var/lib/kubelet/device-plugins' },
  ],
  ['time slicing', 'k3s-server', [], { timeSlicing: { 'nvidia.com/gpu': 4 } }, { configMap: 'gpufleet-device-plugin' }],
];
test.each(changes)(
  'gives a plugin that a chart made %s, and touches nothing else of it',
  (_, hostClass, faults, params, expected) =>
    wholeWay(aBench(hostClass, faults), params, (bench) => expect(pluginOf(bench)).toMatchObject(expected)),
);

test('labels that the plugin is put on nodes by are put on the node', () =>
  wholeWay(
    aBench('rke2-server', ['plugin_not_scheduled']),
    { nodeLabels: { 'nvidia.com/gpu.present': 'true' } },
    (bench) => expect(bench.host.faults).toEqual([]),
  ));

test('a ConfigMap beside the plugin is given to it; one with several keys needs a label of the node', async () => {
  const aBenchWithMap = () => {
    const bench = aBench('k3s-server');
    clusterOf(bench).configMaps['nvidia-device-plugin/sharing'] = { one: config, two: config };
    return bench;
  };
  const config =
    'version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 2\n';
  const request = deploy({ configMap: 'sharing' });
  expect(await aBenchWithMap().engine().runLocal(request)).toMatchObject({
    because: [{ because: 'config_key_unclear' }],
  });
  const bench = aBenchWithMap();
  clusterOf(bench).labels['nvidia.com/device-plugin.config'] = 'two';
  await wholeWay(bench, { configMap: 'sharing' }, () =>
    expect(pluginOf(bench)).toMatchObject({ configMap: 'sharing', env: { CONFIG_FILE: '/config/two' } }),
  );
});

test('a plugin that keeps a GPU out of service is started anew, once', async () => {
  const bench = aBench('k3s-server', ['plugin_gpu_unhealthy']);
  const engine = bench.engine();
  expect(await engine.runLocal(deploy({ restart: true }))).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.faults).toEqual([]);
  expect(await engine.runLocal(deploy({ restart: true }))).toMatchObject({ outcome: 'noop' });
  expect(pluginOf(bench).runs).toBe(2);
});

test('a setting with which the plugin does not come up is taken back', async () => {
  const bench = aBench('k3s-server');
  const before = hostState(bench.host.machine);
  const result = await bench.engine().runLocal(deploy({ runtimeClassName: 'crun' }));
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'pods_not_ready' }] });
  expect(hostState(bench.host.machine)).toEqual(before);
});

test.each([
  ['another release than its chart', { version: '0.18.0' }, 'made_by_chart'],
  ['MIG for a plugin that was made without the rights for it', { migStrategy: 'mixed' }, 'plugin_without_mig'],
  ['a ConfigMap that is not there', { configMap: 'none' }, 'config_map_missing'],
  ['two sources of sharing', { configMap: 'a', timeSlicing: { 'nvidia.com/gpu': 2 } }, 'unsupported_params'],
])('is blocked for %s', async (_, params, because) => {
  const bench = aBench('k3s-server');
  expect(await bench.engine().runLocal(deploy(params))).toMatchObject({ outcome: 'failed', because: [{ because }] });
  expect(bench.host.effects).toEqual([]);
});

test('agents of the cluster may not change it', async () => {
  expect(
    await aBench('k3s-agent')
      .engine()
      .runLocal(deploy({ restart: true })),
  ).toMatchObject({
    because: [{ because: 'no_cluster_rights' }],
  });
});
