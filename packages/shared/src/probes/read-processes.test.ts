import { expect, test } from 'vitest';
import { parseCgroup } from './parse-cgroup.ts';
import { readProcesses } from './read-processes.ts';
import { createFakeReader } from './testing/fake-reader.ts';

test.each([
  ['0::/system.slice/containerd.service\n', 'containerd.service', false],
  [
    '12:cpu,cpuacct:/system.slice/docker.service\n1:name=systemd:/system.slice/docker.service\n',
    'docker.service',
    false,
  ],
  [`0::/system.slice/docker-${'a1'.repeat(32)}.scope/kubelet.slice/containerd.service\n`, 'containerd.service', true],
  [`0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-${'b2'.repeat(32)}.scope\n`, null, true],
  [`4:memory:/docker/${'c3'.repeat(32)}\n`, null, true],
  ['0::/user.slice/user-1000.slice/session-3.scope\n', null, false],
  ['', null, false],
  ['nonsense\0', null, false],
])('%j', (text, service, inContainer) => {
  expect(parseCgroup(text)).toMatchObject({ service, inContainer });
});

test('finds processes by name, with the program that was replaced under them, and passes over those that ended', async () => {
  const host = createFakeReader({
    files: {
      '/proc/1/comm': 'systemd\n',
      '/proc/20/comm': 'containerd-shim\n',
      '/proc/30/comm': 'containerd\n',
      '/proc/30/cmdline': '/usr/bin/containerd\0--config\0/etc/a.toml\0',
      '/proc/30/exe': { link: '/usr/bin/containerd (deleted)' },
      '/proc/30/cgroup': '0::/system.slice/containerd.service\n',
      '/proc/31/comm': 'containerd\n',
      '/proc/self/comm': 'containerd\n',
    },
  });
  expect(await readProcesses(host, 'containerd', [])).toEqual([
    {
      pid: 30,
      argv: ['/usr/bin/containerd', '--config', '/etc/a.toml'],
      exe: '/usr/bin/containerd',
      replaced: true,
      unit: 'containerd.service',
      inContainer: false,
    },
  ]);
});
