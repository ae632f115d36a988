import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { answer, blindLines, logged, plugin, resources, says } from './kube-changes.ts';

const code = 'DEVICE_PLUGIN_WITHOUT_NVIDIA_RUNTIME';
const noGpus = resources('node', { capacity: { 'nvidia.com/gpu': null }, allocatable: { 'nvidia.com/gpu': null } });
const noClass = plugin((spec) => {
  delete spec.runtimeClassName;
});
const blind = logged('k3s-server', ...blindLines);

test('tells the plugin under runc by its DaemonSet, its log and a node without GPUs', async () => {
  const host = await observeChanged('k3s-server', ...noClass, blind, noGpus);
  expect(host.causes()).toEqual([code]);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: null,
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { runtimeClassName: 'nvidia' } }], approval: 'auto' },
  });
  expect(finding?.evidence.map(({ quote }) => quote)).toEqual([
    expect.stringMatching(/^default_runtime_name runc, runtimes: .*nvidia/),
    expect.stringContaining('runtimeClassName not set'),
    'Incompatible strategy detected auto',
    'allocatable nvidia.com/gpu: not listed',
  ]);
});

test('tells the crash loop of newer releases, with its release, in words that stay the same from one restart to the next', async () => {
  const looping = answer('pods', (list) => {
    for (const pod of list.items as { status: { containerStatuses?: Record<string, unknown>[] } }[])
      Object.assign(pod.status.containerStatuses?.[0] ?? {}, {
        ready: false,
        restartCount: 9,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
      });
  });
  const failed = logged(
    'k3s-server',
    'E0610 10:00:00.000000 1 main.go:177] error starting plugins: error creating plugin manager: unable to create plugin manager: failed to construct resource managers: invalid device discovery strategy',
  );
  const newer = plugin((spec) => {
    delete spec.runtimeClassName;
    for (const one of spec.containers) one.image = 'nvcr.io/nvidia/k8s-device-plugin:v0.18.0';
  });
  const host = await observeChanged('k3s-server', ...newer, looping, failed, noGpus);
  expect(JSON.stringify(host.of(code)[0]?.evidence)).toContain('v0.18.0, CrashLoopBackOff"');
});

test('makes the RuntimeClass first where the cluster has none', async () => {
  const host = await observeChanged(
    'k3s-server',
    ...noClass,
    blind,
    noGpus,
    answer('objects', (list) => {
      list.items = (list.items as { kind: string }[]).filter(({ kind }) => kind !== 'RuntimeClass');
    }),
  );
  expect(host.of(code)[0]?.remedy?.jobs.map(({ kind }) => kind)).toEqual([
    'ensure_runtime_class',
    'deploy_device_plugin',
  ]);
});

test('tells it by the log alone on an agent host, which may not ask the API', async () => {
  const host = await observeChanged('k3s-agent', logged('k3s-agent', ...blindLines));
  expect(host.of(code)).toHaveLength(1);
});

test('is silent when nvidia is the default, CDI gives the GPUs, or the node offers them', async () => {
  const byDefault = {
    commands: {
      'k3s crictl info': (text: string) =>
        text.replace('"defaultRuntimeName": "runc"', '"defaultRuntimeName": "nvidia"'),
    },
  };
  expect((await observeChanged('k3s-server', ...noClass, blind, noGpus, byDefault)).of(code)).toEqual([]);
  const cdi = answer('pods', (list) => {
    for (const pod of list.items as { metadata: Record<string, unknown> }[])
      pod.metadata.annotations = { 'cdi.k8s.io/gpus': 'management.nvidia.com/gpu=all' };
  });
  expect((await observeChanged('k3s-server', ...noClass, noGpus, cdi)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', ...noClass, blind)).of(code)).toEqual([]);
});

test('leaves it to the lower layer when the runtime itself or the driver is missing, or there is no GPU', async () => {
  const noRuntime = {
    commands: { 'k3s crictl info': (text: string) => text.replaceAll('"nvidia"', '"other"') },
  };
  expect((await observeChanged('k3s-server', ...noClass, blind, noGpus, noRuntime)).of(code)).toEqual([]);
  const noDriver = { files: { '/proc/driver/nvidia/version': null } };
  expect((await observeChanged('k3s-server', ...noClass, blind, noGpus, noDriver)).of(code)).toEqual([]);
  expect((await observeChanged('no-gpu')).of(code)).toEqual([]);
});

test('cannot tell when neither k3s nor its files say which runtimes there are', async () => {
  const host = await observeChanged('k3s-server', ...noClass, blind, noGpus, {
    commands: { 'k3s crictl info': { exitCode: 1, stderr: 'refused\n' } },
    files: { '/var/lib/rancher/k3s/agent/etc/containerd/config.toml': { as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('not known');
  expect(host.of(code)).toEqual([]);
});

test('does not take a server that does not answer for a node without GPUs', async () => {
  const refused = { exitCode: 1, stderr: 'The connection to the server 127.0.0.1:6443 was refused\n' };
  const host = await observeChanged(
    'k3s-server',
    says('node', refused),
    says('pods', refused),
    says('objects', refused),
  );
  expect(host.of(code)).toEqual([]);
});

test('tells it where CRI-O runs the pods', async () => {
  const blindPlugin = answer('kubeletPods', (list) => {
    for (const pod of list.items as { spec: Record<string, unknown> }[]) delete pod.spec.runtimeClassName;
  });
  const none = resources('kubeletNode', {
    capacity: { 'nvidia.com/gpu': '0' },
    allocatable: { 'nvidia.com/gpu': '0' },
  });
  const host = await observeChanged('crio-worker', blindPlugin, none, logged('crio-worker', ...blindLines));
  expect(host.causes()).toEqual([code]);
  expect(host.of(code)[0]?.evidence[0]).toEqual({
    source: 'command:crio status config',
    quote: 'default_runtime_name crun, runtimes: crun, nvidia, runc',
  });
});
