import { expect, test } from 'vitest';
import { toNodePods } from './parse-node-pods.ts';

const owner = (kind: string) => ({ ownerReferences: [{ kind, name: 'a', controller: true }] });
const pod = (name: string, metadata: object, spec: object = {}, status: object = { phase: 'Running' }) => ({
  metadata: { namespace: 'default', name, uid: `uid-${name}`, ...metadata },
  spec,
  status,
});

test('pods of DaemonSets, of the kubelet itself and those that have ended are not for a drain to evict', () => {
  const items = [
    pod('shipper', owner('DaemonSet')),
    pod('etcd-host-1', { annotations: { 'kubernetes.io/config.mirror': 'a' }, ...owner('Node') }),
    pod('import-1', owner('Job'), {}, { phase: 'Succeeded' }),
    pod('web', owner('ReplicaSet')),
    pod('shell', {}, { volumes: [{ name: 'scratch', emptyDir: {} }] }),
  ];
  expect(toNodePods(items)).toEqual([
    { namespace: 'default', name: 'web', controller: 'ReplicaSet', usesGpu: false, hasEmptyDir: false },
    { namespace: 'default', name: 'shell', controller: null, usesGpu: false, hasEmptyDir: true },
  ]);
});

test.each([
  ['a limit of a whole GPU', { containers: [{ resources: { limits: { 'nvidia.com/gpu': '1' } } }] }],
  ['a limit of a MIG instance', { containers: [{}, { resources: { limits: { 'nvidia.com/mig-1g.5gb': '1' } } }] }],
  ['an init container', { initContainers: [{ resources: { limits: { 'nvidia.com/gpu': 1 } } }] }],
  ['a runtime of NVIDIA’s', { runtimeClassName: 'nvidia' }],
])('a pod uses GPUs by %s', (_, spec) => {
  expect(toNodePods([pod('a', {}, spec)])).toMatchObject([{ usesGpu: true }]);
});

test('what is no pod is passed over', () => {
  expect(toNodePods([{}, { metadata: { name: 'a' } }])).toEqual([]);
});
