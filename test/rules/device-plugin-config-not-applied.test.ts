import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { answer, plugin, resources, says } from './kube-changes.ts';

const code = 'DEVICE_PLUGIN_CONFIG_NOT_APPLIED';
const shared = 'version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n';
const configMap = (data: Record<string, string>, creationTimestamp = '2026-05-01T00:00:00Z'): Changes =>
  answer('configMaps', (list) => {
    const metadata = { name: 'device-plugin-config', namespace: 'nvidia-device-plugin', creationTimestamp };
    (list.items as unknown[]).push({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  });
const wired = plugin((spec) => {
  spec.volumes = [...(spec.volumes as unknown[]), { name: 'configs', configMap: { name: 'device-plugin-config' } }];
  for (const one of spec.containers)
    one.env = [...(one.env as unknown[]), { name: 'CONFIG_FILE', value: '/config/config.yaml' }];
});

test('tells a ConfigMap with time slicing that the plugin of a static manifest is never given', async () => {
  const host = await observeChanged('k3s-server', configMap({ 'time-sliced': shared }));
  expect(host.of(code)).toMatchObject([
    {
      severity: 'warning',
      evidence: [
        { quote: expect.stringContaining('time-sliced: nvidia.com/gpu replicas 4') },
        { quote: expect.stringContaining('no CONFIG_FILE') },
        { quote: 'Running with config: no sharing' },
      ],
      remedy: {
        jobs: [{ kind: 'deploy_device_plugin', params: { configMap: 'device-plugin-config' } }],
        approval: 'auto',
      },
    },
  ]);
});

test('tells a label of the node that names no key', async () => {
  const label = resources('node', { labels: { 'nvidia.com/device-plugin.config': 'time-slicing' } });
  const host = await observeChanged(
    'k3s-server',
    configMap({ 'time-sliced': shared, plain: 'version: v1\nflags: {}\n' }),
    ...wired,
    label,
  );
  expect(host.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining('time-sliced, plain') }]);
});

test('tells a plugin that runs with what it printed before the change, and keys at the wrong level', async () => {
  const host = await observeChanged('k3s-server', configMap({ 'time-sliced': shared }), ...wired);
  expect(host.of(code)[0]?.summary).toContain('not restarted since');
  const flat = 'version: v1\ntimeSlicing:\n  resources:\n  - name: nvidia.com/gpu\n    replicas: 4\n';
  const misplaced = await observeChanged('k3s-server', configMap({ 'time-sliced': flat }), ...wired);
  expect(misplaced.of(code)).toMatchObject([{ person: expect.stringContaining('Move timeSlicing'), remedy: null }]);
});

test('is silent for two minutes after the change, without such a ConfigMap, and on agent hosts', async () => {
  const { facts } = await observeChanged('k3s-server');
  const nowMs = facts.kube.readAtMs;
  const minuteAgo = new Date(nowMs - 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  expect((await observeChanged('k3s-server', configMap({ 'time-sliced': shared }, minuteAgo))).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', configMap({ 'notes.txt': 'hello' }))).of(code)).toEqual([]);
  // Replicas make more GPUs than cards: that is what they are for.
  const more = resources('node', { capacity: { 'nvidia.com/gpu': '4' }, allocatable: { 'nvidia.com/gpu': '4' } });
  expect((await observeChanged('k3s-server', more)).of(code)).toEqual([]);
  const agent = await observeChanged('k3s-agent');
  expect([agent.of(code), agent.untold(code)]).toEqual([[], null]);
});

test('cannot tell when the ConfigMaps could not be listed', async () => {
  const host = await observeChanged(
    'k3s-server',
    says('configMaps', { exitCode: 1, stderr: 'Error from server (Forbidden)\n' }),
  );
  expect(host.untold(code)).toContain('Forbidden');
});
