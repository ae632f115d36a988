import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { answer, logged, ofPlugin, plugin } from './kube-changes.ts';

const code = 'JETSON_PLUGIN_UNSUPPORTED';
/** A Thor that runs k3s: the recorded server, on another board. */
const thor: Changes = {
  files: {
    '/etc/nv_tegra_release': '# R39 (release), REVISION: 2.0, GCID: 1, BOARD: generic, EABI: aarch64, DATE: x\n',
    '/proc/device-tree/compatible': 'nvidia,p3834-0008\0nvidia,tegra264\0',
    '/proc/device-tree/model': 'NVIDIA Jetson AGX Thor Developer Kit\0',
  },
};
const unknown = [
  'I0610 10:00:00.000000       1 factory.go:69] Detected platform: unknown',
  'E0610 10:00:00.000000       1 factory.go:80] Unsupported platform detected; defaulting to nvml',
  'E0610 10:00:00.000000       1 factory.go:90] Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND',
];
const image = (version: string) =>
  plugin((spec) => {
    for (const one of spec.containers) one.image = `nvcr.io/nvidia/k8s-device-plugin:${version}`;
  });
const chart = (version: string): Changes =>
  answer('objects', (list) => {
    const { labels } = ofPlugin(list).metadata as { labels: Record<string, string> };
    labels['helm.sh/chart'] = `nvidia-device-plugin-${version}`;
  });

test('tells a chart that is older than its image, which a person upgrades', async () => {
  const host = await observeChanged(
    'k3s-server',
    thor,
    ...image('v0.19.3'),
    chart('0.9.0'),
    logged('k3s-server', ...unknown),
  );
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [{ quote: 'chart 0.9.0, image tag v0.19.3' }, { quote: 'Detected platform: unknown' }],
      remedy: null,
      person: expect.stringContaining('0.9.0, to v0.19.3'),
    },
  ]);
});

test('tells a plugin from before Tegra was known to it', async () => {
  const host = await observeChanged('k3s-server', thor, ...image('v0.12.3'), chart('0.12.3'));
  expect(host.of(code)[0]).toMatchObject({
    summary: expect.stringContaining('v0.12.3 does not know Tegra'),
    remedy: null,
  });
  const noChart = answer('objects', (list) => {
    delete (ofPlugin(list).metadata as { labels?: unknown }).labels;
  });
  const byHand = await observeChanged('k3s-server', thor, ...image('v0.12.3'), noChart);
  expect(byHand.of(code)[0]?.remedy?.jobs).toEqual([{ kind: 'deploy_device_plugin', params: { version: 'v0.17.1' } }]);
});

test('is silent on x86, with chart and image of one release, and where the board was found', async () => {
  const lines = logged('k3s-server', ...unknown);
  expect((await observeChanged('k3s-server', ...image('v0.19.3'), chart('0.9.0'), lines)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', thor, lines)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', thor, ...image('v0.19.3'), chart('0.9.0'))).of(code)).toEqual([]);
  expect((await observeChanged('thor')).of(code)).toEqual([]);
});

test('cannot tell on an agent host, which sees no chart', async () => {
  const host = await observeChanged('k3s-agent', thor, logged('k3s-agent', ...unknown));
  expect(host.untold(code)).toContain('no_rights_here');
});
