import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { crictl, dropIn, kubeletConfig, noCriService, root } from './containerd-hosts.ts';

const code = 'CONTAINERD_CRI_DISABLED';
const off = { files: { [root]: 'disabled_plugins = ["cri"]\n' }, commands: { [crictl]: noCriService } };

test('tells it for the kubelet’s containerd; the missing runtime is its consequence', async () => {
  const host = await observeChanged('x86-containerd-1.7', off);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${root}`,
      severity: 'blocker',
      evidence: [{ quote: 'disabled_plugins = ["cri"]' }, { quote: 'the CRI plugin is not loaded' }],
      remedy: {
        jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd', enableCri: true } }],
        approval: 'window',
      },
    },
  ]);
  expect(host.of('CONTAINERD_RUNTIME_NOT_CONFIGURED')[0]?.consequenceOf?.code).toBe(code);
});

test('tells the file among the imports that switches it off', async () => {
  const host = await observeChanged('x86-containerd-2', {
    files: {
      [dropIn]: (text) =>
        text.replace('version = 3\n', 'version = 3\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'),
    },
    commands: { [crictl]: noCriService },
  });
  expect(host.of(code)).toMatchObject([{ subject: `file:${dropIn}` }]);
});

test('is silent on a docker-only host, behind another socket, behind k3s, and while CRI is loaded', async () => {
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  const elsewhere = (text: string) => text.replace('/run/containerd/containerd.sock', '/run/other/containerd.sock');
  const other = { files: { [kubeletConfig]: elsewhere } };
  expect((await observeChanged('x86-containerd-1.7', off, other)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', { files: off.files })).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-1.7', { files: off.files })).of(code)).toEqual([]);
});

test('cannot tell of a file that may not be read while CRI does not answer', async () => {
  const host = await observeChanged('x86-containerd-1.7', {
    files: { [root]: { as: { error: 'EACCES' } } },
    commands: { [crictl]: noCriService },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('denied');
});
