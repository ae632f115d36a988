import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { answer, ofPlugin, plugin, resources, withoutPod } from './kube-changes.ts';

const code = 'DEVICE_PLUGIN_NOT_SCHEDULED';
const noLabel = resources('node', {
  labels: { 'nvidia.com/gpu.present': null },
  allocatable: { 'nvidia.com/gpu': '0' },
});
const desired0 = answer('objects', (list) => {
  Object.assign(ofPlugin(list).status as object, {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberReady: 0,
  });
});

test('tells the labels that the chart asks for and the node has not', async () => {
  const host = await observeChanged('k3s-server', ...withoutPod(), noLabel, desired0);
  expect(host.causes()).toEqual([code]);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [
        {
          quote: expect.stringMatching(
            /desiredNumberScheduled 0, affinity: feature\.node.*pci-10de\.present.*gpu\.present In true/,
          ),
        },
        { quote: 'labels of a GPU: none' },
      ],
      remedy: {
        jobs: [{ kind: 'deploy_device_plugin', params: { nodeLabels: { 'nvidia.com/gpu.present': 'true' } } }],
        approval: 'auto',
      },
    },
  ]);
});

test('tells a taint that the DaemonSet does not tolerate, and a selector; a person decides', async () => {
  const tainted = resources('node', { spec: { taints: [{ key: 'dedicated', value: 'batch', effect: 'NoSchedule' }] } });
  const host = await observeChanged('k3s-server', ...withoutPod(), tainted, desired0);
  expect(host.of(code)[0]).toMatchObject({ remedy: null, person: expect.stringContaining('toleration') });
  expect(host.of(code)[0]?.summary).toContain('taint dedicated=batch:NoSchedule');
  const [selector] = plugin((spec) => {
    spec.nodeSelector = { pool: 'gpu' };
  });
  const selected = await observeChanged('k3s-server', ...withoutPod(), desired0, selector ?? {});
  expect(selected.of(code)[0]?.summary).toContain('nodeSelector pool=gpu');
});

test('is silent where the pod runs, no DaemonSet is there, the node fits or is cordoned', async () => {
  expect((await observeChanged('k3s-server', noLabel)).of(code)).toEqual([]);
  const none = answer('objects', (list) => {
    list.items = (list.items as unknown[]).filter((item) => item !== ofPlugin(list));
  });
  expect((await observeChanged('k3s-server', ...withoutPod(), noLabel, none)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', ...withoutPod())).of(code)).toEqual([]);
  const cordoned = resources('node', { labels: { 'nvidia.com/gpu.present': null }, spec: { unschedulable: true } });
  expect((await observeChanged('k3s-server', ...withoutPod(), cordoned, desired0)).of(code)).toEqual([]);
  const notReady = resources('node', {
    spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }] },
  });
  expect((await observeChanged('k3s-server', ...withoutPod(), notReady)).of(code)).toEqual([]);
});

test('an empty node without a GPU is right; a plugin that restarts there is worth a word, no more', async () => {
  const noGpu = { files: { '/sys/bus/pci/devices/0000:14:00.0': null } };
  const lost = Object.keys(noGpu.files);
  expect(lost).toHaveLength(1);
  const { facts } = await observeChanged('k3s-server');
  const address = facts.pci.value?.gpus[0]?.address ?? '';
  const gone = { files: { [`/sys/bus/pci/devices/${address}`]: null } };
  expect((await observeChanged('k3s-server', ...withoutPod(), noLabel, desired0, gone)).of(code)).toEqual([]);
  const looping = answer('pods', (list) => {
    const status = ofPlugin(list).status as { containerStatuses: object[] };
    Object.assign(status.containerStatuses[0] ?? {}, {
      ready: false,
      restartCount: 40,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    });
  });
  expect((await observeChanged('k3s-server', looping, gone)).of(code)).toMatchObject([{ severity: 'info' }]);
});

test('cannot tell on an agent host that has no plugin and may not ask for DaemonSets', async () => {
  const host = await observeChanged('k3s-agent', { files: { '/var/log/pods': null } });
  expect(host.untold(code)).toContain('no_rights_here');
  expect(host.of(code)).toEqual([]);
});
