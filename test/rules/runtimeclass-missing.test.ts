import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { answer, ofPlugin, says, specOf } from './kube-changes.ts';

const code = 'RUNTIMECLASS_MISSING';
const classes = (...kept: { name: string; handler: string }[]): Changes =>
  answer('objects', (list) => {
    const others = (list.items as { kind: string }[]).filter(({ kind }) => kind !== 'RuntimeClass');
    const made = kept.map(({ name, handler }) => ({ kind: 'RuntimeClass', metadata: { name }, handler }));
    list.items = [...others, ...made];
  });
const byDefault: Changes = {
  commands: {
    'k3s crictl info': (text) => text.replace('"defaultRuntimeName": "runc"', '"defaultRuntimeName": "nvidia"'),
  },
};

test('tells a cluster without a class for a runtime that is there, and who names it', async () => {
  const host = await observeChanged('k3s-server', classes());
  expect(host.of(code)).toMatchObject([
    {
      subject: null,
      layer: 'kubernetes',
      severity: 'blocker',
      evidence: [
        { source: 'command:k3s crictl info', quote: expect.stringContaining('nvidia') },
        { source: 'command:k3s kubectl get runtimeclasses,daemonsets -A -o json', quote: 'no RuntimeClass' },
        { quote: 'nvidia-device-plugin/nvdp-nvidia-device-plugin: runtimeClassName nvidia' },
      ],
      remedy: { jobs: [{ kind: 'ensure_runtime_class', params: {} }], approval: 'auto' },
    },
  ]);
});

test('tells it on RKE2 and on a worker of kubeadm as well', async () => {
  const rke2 =
    '/var/lib/rancher/rke2/bin/kubectl --kubeconfig /etc/rancher/rke2/rke2.yaml get runtimeclasses,daemonsets -A -o json';
  const none = JSON.stringify({ items: [] });
  expect((await observeChanged('rke2-server', { commands: { [rke2]: none } })).of(code)).toHaveLength(1);
  const worker = 'kubectl --kubeconfig /etc/kubernetes/kubelet.conf get runtimeclasses -o json';
  expect((await observeChanged('x86-containerd-2', { commands: { [worker]: none } })).of(code)).toHaveLength(1);
});

test('compares handlers, not names', async () => {
  expect((await observeChanged('k3s-server', classes({ name: 'gpu', handler: 'nvidia' }))).of(code)).toEqual([]);
  const wrong = classes({ name: 'nvidia', handler: 'nvidia-container-runtime' });
  expect((await observeChanged('k3s-server', wrong)).of(code)).toMatchObject([
    { remedy: { jobs: [{ kind: 'ensure_runtime_class', params: { replace: true } }], approval: 'approve' } },
  ]);
});

test('is silent when nvidia is the default and nothing names the class, or the runtime itself is missing', async () => {
  const unnamed = answer('objects', (list) => {
    delete specOf(ofPlugin(list)).runtimeClassName;
  });
  expect((await observeChanged('k3s-server', classes(), byDefault, unnamed)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', classes(), byDefault)).of(code)).toHaveLength(1);
  const noRuntime: Changes = { commands: { 'k3s crictl info': (text) => text.replaceAll('"nvidia"', '"other"') } };
  expect((await observeChanged('k3s-server', classes(), noRuntime)).of(code)).toEqual([]);
});

test('cannot tell on a server that does not list them; an agent host is not asked', async () => {
  const host = await observeChanged('k3s-server', says('objects', { exitCode: 1, stderr: 'Forbidden\n' }));
  expect(host.untold(code)).toContain('could not be listed');
  expect((await observeChanged('k3s-agent')).untold(code)).toBeNull();
});
