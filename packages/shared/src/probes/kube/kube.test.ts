import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn, fakeSha256 } from '../testing/fake-reader.ts';
import { kubeProbe } from './index.ts';
import { parseDescribeNode } from './parse-describe-node.ts';
import { parseKubeletConfig, parseKubeletFlag, parseListeningSockets } from './parse-kubelet-files.ts';
import { parseNode } from './parse-node.ts';
import { parseNodeTable } from './parse-node-table.ts';

const node = JSON.stringify({
  kind: 'Node',
  metadata: { name: 'host-1', labels: { 'nvidia.com/gpu.present': 'true' } },
  spec: { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    capacity: { cpu: '8', 'nvidia.com/gpu': '0' },
    allocatable: { cpu: '7900m' },
    nodeInfo: { containerRuntimeVersion: 'containerd://2.1.4-k3s1', kubeletVersion: 'v1.34.1+k3s1' },
  },
});
const classes = JSON.stringify({
  items: [{ kind: 'RuntimeClass', metadata: { name: 'nvidia' }, handler: 'nvidia' }, { metadata: {} }],
});
const noItems = JSON.stringify({ items: [] });
const hereArgv = 'get pods -A --field-selector spec.nodeName=host-1 -o json';
const clusterArgv = 'get runtimeclasses,daemonsets -A -o json';
const sockets =
  '0000000000000000: 00000002 00000000 00010000 0001 01 77 /var/lib/kubelet/device-plugins/kubelet.sock\n';
const listening = { '/proc/net/unix': `Num       RefCount Protocol Flags    Type St Inode Path\n${sockets}` };
const ca = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const hostname = { '/proc/sys/kernel/hostname': 'Host-1\n' };
const units = (name: string) => ({ [unitStatesArgv.join(' ')]: `Id=${name}\nLoadState=loaded\nActiveState=active\n` });

test('reads node and runtime classes on a k3s server', async () => {
  const { value, partial } = await collectOn(kubeProbe, {
    files: { ...hostname, ...listening, '/usr/local/bin/k3s': 'ELF', '/var/lib/rancher/k3s/agent/client-ca.crt': ca },
    commands: {
      ...units('k3s.service'),
      'k3s kubectl get node host-1 -o json': node,
      [`k3s kubectl ${clusterArgv}`]: classes,
      [`k3s kubectl ${hereArgv}`]: noItems,
    },
  });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    present: true,
    distribution: 'k3s',
    rights: 'admin',
    kubelet: {
      rootDir: '/var/lib/kubelet',
      cgroupDriver: null,
      sockets: [{ path: '/var/lib/kubelet/device-plugins/kubelet.sock', present: false, listening: true }],
    },
    pods: [],
    devicePlugin: { daemonSets: [], pods: [], logs: [], configMaps: [] },
    operator: null,
    events: null,
    clusterId: fakeSha256(ca.trim()),
    controlPlane: true,
    runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
    node: {
      name: 'host-1',
      ready: true,
      unschedulable: true,
      labels: { 'nvidia.com/gpu.present': 'true' },
      taints: [{ key: 'a', value: null, effect: 'NoSchedule' }],
      capacity: { cpu: '8', 'nvidia.com/gpu': '0' },
      allocatable: { cpu: '7900m' },
      containerRuntimeVersion: 'containerd://2.1.4-k3s1',
      kubeletVersion: 'v1.34.1+k3s1',
    },
    runtimeClasses: [{ name: 'nvidia', handler: 'nvidia' }],
  });
});

test('knows the cluster of a k3s agent and that it has no rights to ask it', async () => {
  const { value, partial, reader } = await collectOn(kubeProbe, {
    files: {
      ...hostname,
      ...listening,
      '/usr/local/bin/k3s': 'ELF',
      '/var/lib/rancher/k3s/agent/client-ca.crt': `${ca}\n`,
    },
    commands: units('k3s-agent.service'),
  });
  expect(value).toMatchObject({ controlPlane: false, clusterId: fakeSha256(ca.trim()), node: null });
  const parts = ['node', 'pods', 'devicePlugin.pods', 'runtimeClasses', 'devicePlugin.daemonSets', 'operator'];
  expect(partial).toEqual([...parts, 'devicePlugin.configMaps'].map((path) => ({ path, because: 'no_rights_here' })));
  expect(reader.reads.commands.some((argv) => argv.includes('kubectl'))).toBe(false);
});

test('uses the node name that k3s was given', async () => {
  const { value } = await collectOn(kubeProbe, {
    files: { ...hostname, '/usr/local/bin/k3s': 'ELF', '/etc/rancher/k3s/config.yaml': 'node-name: edge-7\n' },
    commands: { ...units('k3s.service'), 'k3s kubectl get node edge-7 -o json': node },
  });
  expect(value?.node?.name).toBe('host-1');
});

test.each([
  [
    'admin.conf',
    {
      '/etc/kubernetes/manifests/kube-apiserver.yaml': 'x',
      '/etc/kubernetes/admin.conf': 'x',
      '/etc/kubernetes/kubelet.conf': 'x',
    },
    true,
  ],
  ['kubelet.conf', { '/etc/kubernetes/kubelet.conf': 'x' }, false],
])('asks with %s on a kubeadm host', async (conf, files, controlPlane) => {
  const { value } = await collectOn(kubeProbe, {
    files: {
      ...hostname,
      ...files,
      '/etc/kubernetes/pki/ca.crt': ca,
      '/var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\ncgroupDriver: systemd\n',
      '/var/lib/kubelet/kubeadm-flags.env':
        'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock"\n',
    },
    commands: {
      [`kubectl --kubeconfig /etc/kubernetes/${conf} get node host-1 -o json`]: node,
      [`kubectl --kubeconfig /etc/kubernetes/${conf} ${controlPlane ? clusterArgv : 'get runtimeclasses -o json'}`]: {
        exitCode: 1,
        stderr: 'Forbidden',
      },
      [`kubectl --kubeconfig /etc/kubernetes/${conf} ${hereArgv}`]: noItems,
    },
  });
  expect(value).toMatchObject({
    controlPlane,
    runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
    rights: controlPlane ? 'admin' : 'node',
    kubelet: { cgroupDriver: 'systemd' },
    node: { name: 'host-1' },
    runtimeClasses: null,
  });
});

test('is not present where only the k3s program lies about', async () => {
  const { value } = await collectOn(kubeProbe, { files: { ...hostname, '/usr/local/bin/k3s': 'ELF' } });
  expect(value?.present).toBe(false);
});

test.each([
  ['Unknown', null],
  ['False', false],
])('reads the condition Ready=%s', (status, ready) => {
  const text = JSON.stringify({
    kind: 'Node',
    metadata: { name: 'a' },
    status: { conditions: [{ type: 'Ready', status }] },
  });
  expect(parseNode(text).value?.ready).toBe(ready);
});

test('does not make a zero of a resource that is not listed', () => {
  const text =
    'Capacity:\n  cpu:  4\n  nvidia.com/gpu.shared:  8\nAllocatable:\n  cpu:  3900m\nSystem Info:\n  Machine ID:  1\n  Container Runtime Version:  containerd://1.7.1\n';
  expect(parseDescribeNode(text).value).toEqual({
    capacity: { cpu: '4', 'nvidia.com/gpu.shared': '8' },
    allocatable: { cpu: '3900m' },
    containerRuntimeVersion: 'containerd://1.7.1',
    labels: null,
  });
});

test('reads the labels of a described node, and a list of labels alone', () => {
  const labels = 'Labels:             beta.kubernetes.io/arch=amd64\n                    nvidia.com/gpu.deploy.x=\n';
  const node = `Name:               host-1\n${labels}Annotations:        a/b=c\nCapacity:\n  cpu:  4\n`;
  const expected = { 'beta.kubernetes.io/arch': 'amd64', 'nvidia.com/gpu.deploy.x': '' };
  expect(parseDescribeNode(node).value).toMatchObject({ labels: expected, capacity: { cpu: '4' } });
  expect(parseDescribeNode('  nvidia.com/gpu.product=NVIDIA-L4\n').value).toEqual({
    capacity: null,
    allocatable: null,
    containerRuntimeVersion: null,
    labels: { 'nvidia.com/gpu.product': 'NVIDIA-L4' },
  });
  expect(parseDescribeNode('some words = no label\n').unreadable).toEqual([{ path: '', because: 'not_a_node' }]);
});

test('reads a table of nodes and GPUs: not listed is unknown, not zero', () => {
  expect(parseNodeTable('NAME     GPU\nhost-1   <none>\nhost-2   4 # four\nhost-3   many\n')).toEqual({
    value: {
      nodes: ['host-1', 'host-2', 'host-3'],
      gpus: { 'host-1': null, 'host-2': 4, 'host-3': null },
      used: null,
      zeroGpuNodes: [],
    },
    unreadable: [{ path: 'gpus.host-3', because: 'not_a_number' }],
  });
  expect(parseNodeTable('Node   Available(GPUs)  Used(GPUs)\nhost-1   0   0\nhost-2   2   1\n').value).toEqual({
    nodes: ['host-1', 'host-2'],
    gpus: { 'host-1': 0, 'host-2': 2 },
    used: { 'host-1': 0, 'host-2': 1 },
    zeroGpuNodes: ['host-1'],
  });
  expect(parseNodeTable('NAME   STATUS   ROLES\nhost-1   Ready   worker\n').value).toBeNull();
});

test('finds the socket wherever the kubelet is told of it', () => {
  expect(parseKubeletConfig('containerRuntimeEndpoint: unix:///a.sock\n').endpoint).toBe('unix:///a.sock');
  expect(parseKubeletFlag('A="--x=1 --hostname-override edge-1"', 'hostname-override')).toBe('edge-1');
  expect(parseKubeletConfig('a: [').endpoint).toBeNull();
  expect(parseListeningSockets(sockets.replace('00010000', '00000000'))).toEqual([]);
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(node.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      parseNode(node.slice(0, cut) + insert + node.slice(cut));
      parseDescribeNode(insert);
    }),
  );
});
