import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { crictl, kubeletConfig, live, noCriService, root, runtime } from './containerd-hosts.ts';

const code = 'CONTAINERD_RUNTIME_INCOMPLETE';
const job = { kind: 'configure_runtime', params: { runtime: 'containerd' } };
const table = 'plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia';
const byDefault = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\ndefault_runtime_name = "nvidia"\n';
const bare = runtime(2, 'nvidia', 'BinaryName = "/usr/bin/nvidia-container-runtime"\n');
/** The daemon tells only whether CRI is there: then the files have the rest. */
const onlyCtr = {
  absent: ['crictl'],
  commands: {
    'ctr --address /run/containerd/containerd.sock plugins ls':
      'TYPE ID PLATFORMS STATUS\nio.containerd.grpc.v1 cri linux/amd64 ok\n',
  },
};

test.each([
  ['no type', `[${table}.options]\nBinaryName = "/usr/bin/nvidia-container-runtime"\n`, 'no runtime_type'],
  ['no program', `[${table}]\nruntime_type = "io.containerd.runc.v2"\n`, 'no BinaryName'],
  [
    'a program that is not there',
    runtime(2, 'nvidia', 'BinaryName = "/usr/local/bin/nvidia-container-runtime"\nSystemdCgroup = true\n'),
    '/usr/local/bin/nvidia-container-runtime',
  ],
])('tells a runtime nvidia with %s', async (_, text, quote) => {
  const host = await observeChanged('x86-containerd-1.7', onlyCtr, {
    files: { [root]: `version = 2\n${runtime(2, 'runc')}${text}` },
  });
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [{ quote: expect.stringContaining(quote) }],
      remedy: { jobs: [job], approval: 'window' },
    },
  ]);
});

test('tells nvidia as the default without SystemdCgroup where the kubelet uses the systemd driver', async () => {
  const host = await observeChanged('x86-containerd-1.7', {
    files: { [root]: byDefault + bare },
    commands: {
      [crictl]: live((containerd) => {
        containerd.defaultRuntimeName = 'nvidia';
        containerd.runtimes = {
          nvidia: {
            runtimeType: 'io.containerd.runc.v2',
            options: { BinaryName: '/usr/bin/nvidia-container-runtime' },
          },
        };
      }),
    },
  });
  const [finding] = host.of(code);
  expect(finding).toMatchObject({ severity: 'critical', subject: `file:${root}`, remedy: { jobs: [job] } });
  expect(finding?.evidence).toContainEqual({ source: `file:${kubeletConfig}`, quote: 'cgroupDriver: systemd' });
});

test('is silent where the kubelet is on cgroupfs, where nvidia is not the default, and on a complete one', async () => {
  const cgroupfs = { files: { [kubeletConfig]: (text: string) => text.replace('systemd', 'cgroupfs') } };
  const onCgroupfs = await observeChanged('x86-containerd-1.7', onlyCtr, cgroupfs, {
    files: { [root]: byDefault + bare },
  });
  expect(onCgroupfs.of(code)).toEqual([]);
  const notDefault = { files: { [root]: `version = 2\n${runtime(2, 'runc')}${bare}` } };
  expect((await observeChanged('x86-containerd-1.7', onlyCtr, notDefault)).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-2')).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server')).of(code)).toEqual([]);
});

test('tells a default runtime that the table of nvidia has pushed out', async () => {
  const host = await observeChanged('x86-containerd-1.7', {
    files: { [root]: `version = 2\n${bare}` },
    commands: { [crictl]: noCriService },
  });
  expect(host.of(code)[0]?.summary).toContain('default runtime runc has no table');
});

test('cannot tell where the kubelet does not say its driver', async () => {
  const host = await observeChanged('x86-containerd-1.7', onlyCtr, {
    files: {
      [root]: byDefault + bare,
      [kubeletConfig]: (text) => text.replace('cgroupDriver: systemd\n', ''),
    },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('cgroup driver');
});
