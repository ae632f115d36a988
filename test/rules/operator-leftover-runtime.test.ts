import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { crictl, live, root, runtime } from './containerd-hosts.ts';

const code = 'OPERATOR_LEFTOVER_RUNTIME';
const program = '/usr/local/nvidia/toolkit/nvidia-container-runtime';
const entry = runtime(2, 'nvidia', `BinaryName = "${program}"\nSystemdCgroup = true\n`);
const asDefault = '[plugins."io.containerd.grpc.v1.cri".containerd]\ndefault_runtime_name = "nvidia"\n';
const leftover = {
  files: { [root]: `version = 2\n${asDefault}${runtime(2, 'runc')}${entry}` },
  commands: {
    [crictl]: live((containerd) => {
      containerd.defaultRuntimeName = 'nvidia';
      containerd.runtimes.nvidia = {
        runtimeType: 'io.containerd.runc.v2',
        options: { BinaryName: program, SystemdCgroup: true },
      };
    }),
  },
};
const programs = { files: { [program]: 'ELF' } };
const labelled = {
  commands: {
    'kubectl --kubeconfig /etc/kubernetes/kubelet.conf get node host-1 -o json': (text: string) => {
      const node = JSON.parse(text) as { metadata: { labels: Record<string, string> } };
      node.metadata.labels['nvidia.com/gpu.deploy.container-toolkit'] = 'true';
      return JSON.stringify(node);
    },
  },
};

test('tells the default runtime of an operator that is no longer here, and takes the host’s in its place', async () => {
  const host = await observeChanged('x86-containerd-1.7', leftover, programs);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${root}`,
      severity: 'critical',
      remedy: {
        jobs: [
          {
            kind: 'configure_runtime',
            params: {
              runtime: 'containerd',
              runtimePath: '/usr/bin/nvidia-container-runtime',
              setAsDefault: false,
            },
          },
        ],
        approval: 'window',
      },
    },
  ]);
});

test('explains the program that is gone', async () => {
  const host = await observeChanged('x86-containerd-1.7', leftover);
  expect(host.of(code)[0]?.evidence.at(-1)).toEqual({ source: `file:${program}`, quote: 'absent' });
  expect(host.of('CONTAINERD_RUNTIME_INCOMPLETE')).toMatchObject([{ consequenceOf: { code } }]);
});

test('tells docker’s as well', async () => {
  const host = await observeChanged('x86-docker', programs, {
    files: {
      '/etc/docker/daemon.json': JSON.stringify({
        'default-runtime': 'nvidia',
        runtimes: { nvidia: { path: program, runtimeArgs: [] } },
      }),
    },
  });
  expect(host.of(code)).toMatchObject([{ subject: 'file:/etc/docker/daemon.json' }]);
});

test('is silent while the operator labels the node, about programs alone, and behind k3s', async () => {
  expect((await observeChanged('x86-containerd-1.7', leftover, programs, labelled)).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-1.7', programs)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', programs)).of(code)).toEqual([]);
});

test('cannot tell where the node cannot be asked for', async () => {
  const host = await observeChanged('x86-containerd-1.7', leftover, programs, {
    commands: {
      'kubectl --kubeconfig /etc/kubernetes/kubelet.conf get node host-1 -o json': {
        exitCode: 1,
        stderr: 'The connection to the server 10.0.0.10:6443 was refused\n',
      },
    },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('GPU operator');
});
