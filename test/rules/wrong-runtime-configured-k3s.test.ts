import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { units } from './containerd-hosts.ts';

const code = 'WRONG_RUNTIME_CONFIGURED';
const hostFile = '/etc/containerd/config.toml';
const written: Changes = {
  files: {
    [hostFile]:
      'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"\n',
  },
};
const rke2Info = '/var/lib/rancher/rke2/bin/crictl --runtime-endpoint unix:///run/k3s/containerd/containerd.sock info';
const without = (text: string) => text.replaceAll('"nvidia"', '"other"');

test.each([
  ['k3s-server', 'k3s crictl info', 'k3s'],
  ['k3s-agent', 'k3s crictl info', 'k3s'],
  ['rke2-server', rke2Info, 'rke2'],
] as const)(
  'on a %s tells nvidia in the host’s file, which its containerd never reads',
  async (name, argv, runtime) => {
    const host = await observeChanged(name, written, { commands: { [argv]: without } });
    expect(host.of(code)).toMatchObject([
      {
        subject: `file:${hostFile}`,
        severity: 'blocker',
        evidence: [
          { source: `file:${hostFile}` },
          { source: `command:${argv}`, quote: expect.stringContaining('runc') },
        ],
        remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime } }], approval: 'window' },
      },
    ]);
  },
);

const snapData = '/var/snap/microk8s/current';
const rendered = (handler: string) =>
  `version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${handler}]\nruntime_type = "io.containerd.runc.v2"\n`;
const microk8s = (handler: string): Changes => ({
  files: {
    '/snap/microk8s/current/meta/snap.yaml': 'name: microk8s\nversion: v1.32.3\n',
    [`${snapData}/args/containerd-template.toml`]: rendered(handler),
    [`${snapData}/args/containerd.toml`]: rendered(handler),
  },
  commands: {
    [units]: (text) =>
      text.replace(
        'Id=snap.microk8s.daemon-containerd.service\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n',
        'Id=snap.microk8s.daemon-containerd.service\nLoadState=loaded\nActiveState=active\nSubState=running\n',
      ),
  },
});

test('tells it of MicroK8s, whose handler may have the name of the program', async () => {
  const host = await observeChanged('x86-docker', microk8s('kata'), written);
  expect(host.of(code)).toMatchObject([
    { remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'microk8s' } }] } },
  ]);
  expect((await observeChanged('x86-docker', microk8s('nvidia-container-runtime'), written)).of(code)).toEqual([]);
});

test('is silent when its containerd has nvidia as well, and on hosts without such a distribution', async () => {
  expect((await observeChanged('k3s-server', written)).of(code)).toEqual([]);
  expect((await observeChanged('rke2-server', written)).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-1.7')).of(code)).toEqual([]);
});

test('cannot tell when the runtimes of k3s are not known', async () => {
  const host = await observeChanged('k3s-server', written, {
    commands: { 'k3s crictl info': { exitCode: 1, stderr: 'refused\n' } },
    files: { '/var/lib/rancher/k3s/agent/etc/containerd/config.toml': null },
  });
  expect(host.untold(code)).toContain('not known');
});
