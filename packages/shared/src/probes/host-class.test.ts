import { expect, test } from 'vitest';
import { HostClass } from '../api/index.ts';
import type { Facts, ProbeKey } from './facts.ts';
import { deriveHostClass } from './host-class.ts';
import { probes } from './registry.ts';
import { createFakeReader, type FakeHostParts, fakeSha256 } from './testing/fake-reader.ts';
import { smiXmlText } from './testing/smi-xml-text.ts';

async function classOf(parts: FakeHostParts): Promise<HostClass> {
  const host = createFakeReader(parts);
  const facts: Partial<Record<ProbeKey, unknown>> = {};
  for (const probe of probes) {
    const collected = await probe.collect({ host, sha256: fakeSha256, earlier: {} });
    facts[probe.key] = { readAtMs: 0, how: [], partial: [], ...collected };
  }
  return HostClass.parse(deriveHostClass(facts as Facts));
}

const x86 = { '/proc/cpuinfo': 'processor\t: 0\nflags\t: lm\n', '/proc/modules': '', '/sys/bus/pci/devices/': '' };

test('knows nothing of a host that cannot be read', async () => {
  const fails = { fails: 'denied' as const };
  const known = await classOf({ files: { '/proc/modules': fails, '/sys/bus/pci/devices': fails } });
  expect(known).toMatchObject({ platform: null, gpuModel: null, gpuCount: null, driverBranch: null, mig: null });
});

test('describes a docker host by its GPUs', async () => {
  const gpu = { name: 'NVIDIA A30', mig: { current: 'Disabled', pending: 'Enabled' } };
  const known = await classOf({
    files: { ...x86, '/usr/bin/dockerd': 'ELF' },
    commands: {
      'nvidia-smi -q -x': smiXmlText({ driver: '570.124.06', gpus: [gpu, gpu] }),
      'docker info --format {{json .}}': '{"ServerVersion": "28.1.1"}',
    },
  });
  expect(known).toEqual({
    platform: 'x86',
    gpuModel: 'NVIDIA A30',
    gpuCount: 2,
    driverVersion: '570.124.06',
    driverBranch: '570',
    runtime: 'docker',
    runtimeVersion: '28.1.1',
    kubernetesRole: null,
    clusterId: null,
    toolkitVersion: null,
    os: null,
    l4t: null,
    mig: 'pending',
  });
});

test('counts GPUs on the bus where the driver does not answer', async () => {
  const folder = '/sys/bus/pci/devices/0000:65:00.0';
  const files = { [`${folder}/vendor`]: '0x10de', [`${folder}/device`]: '0x2330', [`${folder}/class`]: '0x030200' };
  expect(await classOf({ files: { ...x86, ...files } })).toMatchObject({
    gpuCount: 1,
    gpuModel: null,
    runtime: 'none',
  });
});

test('puts k3s before an engine that is merely installed', async () => {
  const known = await classOf({
    files: {
      ...x86,
      '/usr/bin/dockerd': 'ELF',
      '/usr/local/bin/k3s': 'ELF',
      '/etc/systemd/system/k3s-agent.service': '',
      '/var/lib/rancher/k3s/agent/client-ca.crt': 'ca',
    },
    commands: { 'k3s --version': 'k3s version v1.34.1+k3s1 (a)\n' },
  });
  expect(known).toMatchObject({
    runtime: 'k3s',
    runtimeVersion: 'v1.34.1+k3s1',
    kubernetesRole: 'agent',
    clusterId: fakeSha256('ca'),
  });
});

test('takes containerd where the kubelet uses it, although docker is there', async () => {
  const known = await classOf({
    files: {
      ...x86,
      '/usr/bin/dockerd': 'ELF',
      '/usr/bin/containerd': 'ELF',
      '/var/lib/kubelet/config.yaml': 'containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n',
    },
    commands: { 'containerd --version': 'containerd containerd.io 1.7.24 x' },
  });
  expect(known).toMatchObject({ runtime: 'containerd', runtimeVersion: '1.7.24', kubernetesRole: 'agent' });
});

test('does not count zero GPUs on a Tegra board without nvidia-smi', async () => {
  const known = await classOf({ files: { ...x86, '/etc/nv_tegra_release': '# R35 (release), REVISION: 4.1' } });
  expect(known).toMatchObject({ platform: 'jetson', gpuCount: null });
});
