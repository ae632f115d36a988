import { expect, test } from 'vitest';
import type { Process } from '../read-processes.ts';
import { ownerOf, parseContainerdOptions, parseExecStart } from './parse-command-line.ts';

test.each([
  [['containerd'], null, null],
  [['containerd', '-c', '/etc/k/config.toml', '-a', '/run/k.sock'], '/etc/k/config.toml', '/run/k.sock'],
  [['containerd', '--config=/a.toml', '--address', '/run/a.sock', '--root', '/r'], '/a.toml', '/run/a.sock'],
  [['containerd', '-config', '/a.toml', '--config', '/b.toml'], '/b.toml', null],
  [['containerd', '--config'], null, null],
])('reads %j', (argv, config, address) => {
  expect(parseContainerdOptions(argv)).toMatchObject({ config, address });
});

test('takes the last ExecStart, and none before an empty one', () => {
  expect(parseExecStart(['[Service]\nExecStart=-/usr/bin/containerd --config \\\n /a.toml\n'])).toEqual([
    '/usr/bin/containerd',
    '--config',
    '/a.toml',
  ]);
  expect(
    parseExecStart([
      'ExecStart=/usr/bin/containerd\r\n',
      '[Service]\nExecStart=\nExecStart="/opt/bin/containerd" -c /b',
    ]),
  ).toEqual(['/opt/bin/containerd', '-c', '/b']);
});

const process = (change: Partial<Process>): Process => ({
  pid: 7,
  argv: ['containerd'],
  exe: '/usr/bin/containerd',
  replaced: false,
  unit: 'containerd.service',
  inContainer: false,
  ...change,
});

test.each([
  [{}, 'host'],
  [{ unit: 'containerd-k8s.service', exe: '/usr/local/bin/containerd' }, 'host'],
  [
    { unit: 'docker.service', argv: ['containerd', '--config', '/var/run/docker/containerd/containerd.toml'] },
    'docker',
  ],
  [{ unit: 'k3s.service', exe: '/var/lib/rancher/k3s/data/current/bin/containerd' }, 'k3s'],
  [{ unit: 'rke2-agent.service', exe: '/var/lib/rancher/rke2/data/v1/bin/containerd' }, 'rke2'],
  [{ unit: 'snap.microk8s.daemon-containerd.service', exe: '/snap/microk8s/8148/bin/containerd' }, 'microk8s'],
  [{ inContainer: true }, 'container'],
  [{ unit: null, exe: null, argv: ['containerd', '-a', '/run/k3s/containerd/containerd.sock'] }, 'k3s'],
])('%j is brought by %s', (change, owner) => {
  const given = process(change);
  expect(ownerOf(given, parseContainerdOptions(given.argv))).toBe(owner);
});
