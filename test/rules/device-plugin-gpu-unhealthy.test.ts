import { describe, expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { answer, blindLines, logged, plugin, resources } from './kube-changes.ts';

const code = 'DEVICE_PLUGIN_GPU_UNHEALTHY';
const { facts } = await observeChanged('k3s-server');
const uuid = facts.gpus.value?.gpus[0]?.uuid ?? '';
const mark = (xid: number) =>
  logged(
    'k3s-server',
    `I0610 10:00:00.000000       1 health.go:172] XidCriticalError: Xid=${xid} on Device=${uuid}; marking device as unhealthy.`,
    `I0610 10:00:00.000000       1 server.go:256] 'nvidia.com/gpu' device marked unhealthy: ${uuid}`,
  );
const short = resources('node', { capacity: { 'nvidia.com/gpu': '1' }, allocatable: { 'nvidia.com/gpu': '0' } });

test('tells a GPU that works and is kept out of service, and restarts the plugin', async () => {
  const host = await observeChanged('k3s-server', mark(69), short);
  expect(host.of(code)).toMatchObject([
    {
      subject: `gpu:${uuid}`,
      severity: 'degraded',
      evidence: [
        { quote: `XidCriticalError: Xid=69 on Device=${uuid}; marking device as unhealthy.` },
        { quote: 'nvidia.com/gpu: capacity 1, allocatable 0' },
        { quote: expect.stringContaining('answers') },
      ],
      remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { restart: true } }], approval: 'auto' },
    },
  ]);
});

test('tells it by the log alone where the API may not be asked', async () => {
  const agent = await observeChanged('k3s-agent');
  const id = agent.facts.gpus.value?.gpus[0]?.uuid ?? '';
  const host = await observeChanged(
    'k3s-agent',
    logged(
      'k3s-agent',
      `I0610 10:00:00.000000 1 health.go:172] XidCriticalError: Xid=69 on Device=${id}; marking device as unhealthy.`,
    ),
  );
  expect(host.of(code)).toHaveLength(1);
});

test.each([48, 62, 64, 74, 79, 95, 119, 120, 140, 143])('never gives a GPU with Xid %s back to work', async (xid) => {
  expect((await observeChanged('k3s-server', mark(xid), short)).of(code)).toEqual([]);
});

test('is silent when the hardware shows a fault: in the kernel log, in ECC or in its rows', async () => {
  const address = facts.pci.value?.gpus[0]?.address ?? '';
  const journal =
    'journalctl --boot=0 --no-pager --output=short-monotonic --lines=20000 _TRANSPORT=kernel + _AUDIT_TYPE=1400';
  const xid79 = {
    commands: {
      [journal]: (text: string) =>
        `${text}[ 9000.000000] host-1 kernel: NVRM: Xid (PCI:${address.slice(0, -2)}): 79, pid=700, name=train, GPU has fallen off the bus.\n`,
    },
  };
  expect((await observeChanged('k3s-server', mark(69), short, xid79)).of(code)).toEqual([]);
  const ecc = {
    commands: {
      'nvidia-smi -q -x': (xml: string) =>
        xml
          .replace(/(<volatile>[\s\S]*?<dram_uncorrectable>)\d+/, '$13')
          .replace(/(<volatile>[\s\S]*?<sram_uncorrectable>)\d+/, '$13'),
    },
  };
  const observed = await observeChanged('k3s-server', mark(69), short, ecc);
  expect(observed.facts.gpus.value?.gpus[0]?.eccUncorrectedVolatile).not.toBe(0);
  expect(observed.of(code)).toEqual([]);
});

test('is silent when the plugin was restarted since: capacity and allocatable agree', async () => {
  expect((await observeChanged('k3s-server', mark(69))).of(code)).toEqual([]);
});

test('cannot tell without nvidia-smi whether the GPU works', async () => {
  const host = await observeChanged('k3s-server', mark(69), short, {
    commands: { 'nvidia-smi -q -x': { timedOut: true } },
  });
  expect(host.untold(code)).toContain('gpus');
  expect(host.of(code)).toEqual([]);
});

describe('a node that offers nothing while the plugin runs and the GPUs answer', () => {
  const zero = resources('node', { capacity: { 'nvidia.com/gpu': '0' }, allocatable: { 'nvidia.com/gpu': '0' } });
  const unlisted = resources('node', { capacity: { 'nvidia.com/gpu': null }, allocatable: { 'nvidia.com/gpu': null } });

  test.each([
    ['zero', zero, 'nvidia.com/gpu: capacity 0, allocatable 0'],
    ['nothing at all', unlisted, 'nvidia.com/gpu: not listed'],
    ['none of those that it has', short, 'nvidia.com/gpu: capacity 1, allocatable 0'],
  ])('is told, whether it lists %s', async (_, node, quote) => {
    const host = await observeChanged('k3s-server', node);
    expect(host.causes()).toEqual([code]);
    expect(host.of(code)).toMatchObject([
      {
        subject: null,
        severity: 'degraded',
        evidence: [{ quote }, { quote: expect.stringContaining('Running, ready') }, { quote: '1 GPUs answer' }],
        remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { restart: true } }] },
      },
    ]);
  });

  test('is no fault where the parts of MIG are offered, or the resource has another name', async () => {
    const mig = resources('node', {
      capacity: { 'nvidia.com/gpu': '0', 'nvidia.com/mig-1g.12gb': '2' },
      allocatable: { 'nvidia.com/gpu': '0', 'nvidia.com/mig-1g.12gb': '2' },
    });
    expect((await observeChanged('k3s-server', mig)).of(code)).toEqual([]);
    const replicas = resources('node', {
      capacity: { 'nvidia.com/gpu': '0', 'nvidia.com/gpu.shared': '128' },
      allocatable: { 'nvidia.com/gpu': '0', 'nvidia.com/gpu.shared': '128' },
    });
    expect((await observeChanged('k3s-server', replicas)).of(code)).toEqual([]);
  });

  test('is left to the plugin’s first two minutes, and to the rules that its log speaks for', async () => {
    const fresh = answer('pods', (list) => {
      for (const pod of list.items as { status: { containerStatuses?: Record<string, unknown>[] } }[])
        Object.assign(pod.status.containerStatuses?.[0] ?? {}, {
          state: { running: { startedAt: new Date(1_780_315_200_000 - 30_000).toISOString() } },
        });
    });
    expect((await observeChanged('k3s-server', zero, fresh)).of(code)).toEqual([]);
    expect((await observeChanged('k3s-server', zero, logged('k3s-server', ...blindLines))).of(code)).toEqual([]);
    expect((await observeChanged('k3s-server', zero, mark(79))).of(code)).toEqual([]);
  });

  test('is a consequence where the plugin registers at the wrong place', async () => {
    const elsewhere = plugin((spec) => {
      for (const volume of spec.volumes as { hostPath?: { path: string } }[])
        if (volume.hostPath?.path.endsWith('/device-plugins')) volume.hostPath.path = '/data/kubelet/device-plugins';
    });
    const host = await observeChanged('k3s-server', zero, ...elsewhere);
    expect(host.causes()).toEqual(['KUBELET_PLUGIN_SOCKET_MISMATCH']);
  });
});
