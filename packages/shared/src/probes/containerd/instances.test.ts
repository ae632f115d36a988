import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { containerdProbe } from './index.ts';

const said = (version: string) => `containerd github.com/containerd/containerd ${version} x`;
const v2 = (name: string) => `version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}]
runtime_type = "io.containerd.runc.v2"
`;

function process(pid: number, exe: string, argv: string[], cgroup: string) {
  return {
    [`/proc/${pid}/comm`]: 'containerd\n',
    [`/proc/${pid}/cmdline`]: `${argv.join('\0')}\0`,
    [`/proc/${pid}/exe`]: { link: exe },
    [`/proc/${pid}/cgroup`]: `0::/system.slice/${cgroup}\n`,
  };
}

test('describes the containerd that runs, by its command line, and names the one on the disk that does not', async () => {
  const { value, partial } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/usr/local/bin/containerd': 'ELF',
      ...process(
        7,
        '/usr/local/bin/containerd',
        ['/usr/local/bin/containerd', '-c', '/etc/containerd-k8s/config.toml'],
        'containerd.service',
      ),
      '/etc/containerd/config.toml': v2('nvidia'),
      '/etc/containerd-k8s/config.toml': `${v2('runc')}\n[grpc]\naddress = "/run/containerd-k8s.sock"\n`,
    },
    commands: {
      '/usr/local/bin/containerd --version': said('1.7.20'),
      '/usr/bin/containerd --version': said('1.6.20'),
      'crictl --runtime-endpoint unix:///run/containerd-k8s.sock info': '{}',
    },
  });
  expect(value).toMatchObject({ binary: '/usr/local/bin/containerd', version: '1.7.20' });
  expect(value?.files[0]?.path).toBe('/etc/containerd-k8s/config.toml');
  expect(value?.effective?.runtimes.map(({ name }) => name)).toEqual(['runc']);
  expect(value?.live).toMatchObject({ criReady: true });
  expect(value?.instances).toMatchObject([
    {
      of: 'host',
      running: true,
      pid: 7,
      version: '1.7.20',
      address: '/run/containerd-k8s.sock',
      root: '/var/lib/containerd',
    },
    {
      of: 'host',
      running: false,
      binary: '/usr/bin/containerd',
      version: '1.6.20',
      configPath: '/etc/containerd/config.toml',
      effective: null,
    },
  ]);
  expect(value?.unmatched?.map(({ file, runtimes }) => [file.path, runtimes[0]?.name])).toEqual([
    ['/etc/containerd/config.toml', 'nvidia'],
  ]);
  expect(partial?.filter(({ path }) => path === 'version')).toEqual([]);
});

test('names those that dockerd and distributions bring, with their sockets, and has none of its own', async () => {
  const { value } = await collectOn(containerdProbe, {
    files: {
      ...process(
        7,
        '/snap/microk8s/8148/bin/containerd',
        [
          '/snap/microk8s/8148/bin/containerd',
          '--config',
          '/var/snap/microk8s/8148/args/containerd.toml',
          '--address',
          '/var/snap/microk8s/common/run/containerd.sock',
        ],
        'snap.microk8s.daemon-containerd.service',
      ),
      ...process(8, '/var/lib/rancher/k3s/data/current/bin/containerd', ['containerd'], 'k3s.service'),
      ...process(
        9,
        '/usr/bin/containerd',
        ['containerd', '--config', '/var/run/docker/containerd/containerd.toml'],
        'docker.service',
      ),
      '/var/run/docker/containerd/containerd.toml':
        'version = 2\nroot = "/data/containerd"\n[grpc]\naddress = "/var/run/docker/containerd/containerd.sock"\n',
      ...process(10, '/usr/bin/containerd', ['containerd'], `docker-${'a1'.repeat(32)}.scope`),
    },
  });
  expect(value).toMatchObject({ installed: false, effective: null, live: null });
  expect(value?.instances?.map(({ of, address, root }) => [of, address, root])).toEqual([
    ['microk8s', '/var/snap/microk8s/common/run/containerd.sock', '/var/snap/microk8s/common/var/lib/containerd'],
    ['k3s', '/run/k3s/containerd/containerd.sock', '/var/lib/rancher/k3s/agent/containerd'],
    ['docker', '/var/run/docker/containerd/containerd.sock', '/data/containerd'],
    ['container', null, null],
  ]);
});

test('starts no program from a folder that is not the system’s, and of one that was replaced tells what a restart would run', async () => {
  const { value, partial, reader } = await collectOn(containerdProbe, {
    files: { ...process(7, '/home/someone/containerd', ['/home/someone/containerd'], 'containerd.service') },
    commands: { 'containerd --version': said('1.7.20') },
  });
  expect(value).toMatchObject({ installed: true, version: null });
  expect(partial).toContainEqual({ path: 'version', because: 'program_elsewhere' });
  expect(reader.reads.commands.map(([program]) => program)).not.toContain('/home/someone/containerd');
  const replaced = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      ...process(7, '/usr/bin/containerd (deleted)', ['/usr/bin/containerd'], 'containerd.service'),
    },
    commands: { 'containerd --version': said('2.1.9') },
  });
  expect(replaced.value).toMatchObject({ version: '2.1.9', instances: [{ replaced: true, running: true }] });
});

test('reads the unit of a daemon that is down for the configuration that it will start with', async () => {
  const { value } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/usr/lib/systemd/system/containerd.service': '[Service]\nExecStart=/usr/bin/containerd\n',
      '/etc/systemd/system/containerd.service.d/10-config.conf':
        '[Service]\nExecStart=\nExecStart=/usr/bin/containerd --config /etc/containerd/site.toml\n',
      '/etc/containerd/site.toml': v2('nvidia'),
    },
    commands: { 'containerd --version': said('1.7.20') },
  });
  expect(value?.files[0]).toMatchObject({ path: '/etc/containerd/site.toml', present: true });
  expect(value?.instances).toMatchObject([{ running: false, unit: 'containerd.service' }]);
});

test('tells files with runtimes that no import leads to, and passes over registries and copies', async () => {
  const { value } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      '/etc/containerd/config.toml': 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
      '/etc/containerd/conf.d/10.toml': v2('runc'),
      '/etc/containerd/config.d/99-nvidia.toml': v2('nvidia'),
      '/etc/containerd/config.d/plain.toml': 'version = 2\n',
      '/etc/containerd/config.toml.bak': v2('nvidia'),
      '/etc/containerd/certs.d/hosts.toml': 'server = "https://registry.example.com"\n',
    },
    commands: { 'containerd --version': said('1.7.20') },
  });
  expect(value?.unmatched).toMatchObject([
    { file: { path: '/etc/containerd/config.d/99-nvidia.toml' }, version: 2, runtimes: [{ name: 'nvidia' }] },
  ]);
});

test('says that a configuration lies where it does not look', async () => {
  const { value, partial } = await collectOn(containerdProbe, {
    files: {
      '/usr/bin/containerd': 'ELF',
      ...process(7, '/usr/bin/containerd', ['containerd', '-c', '/srv/x/y/z/c.toml'], 'containerd.service'),
    },
    commands: { 'containerd --version': said('1.7.20') },
  });
  expect(value?.files).toMatchObject([{ path: '/srv/x/y/z/c.toml', error: expect.stringContaining('not_read') }]);
  expect(value?.effective).toBeNull();
  expect(partial).toContainEqual({ path: 'files', because: 'import_not_read: /srv/x/y/z/c.toml' });
});
