import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import {
  containerdProcess,
  dropIn,
  kubeletConfig,
  liveWithoutNvidia,
  nvidia,
  root,
  runtime,
} from './containerd-hosts.ts';

const code = 'WRONG_RUNTIME_CONFIGURED';
const own = containerdProcess('x86-containerd-1.7');
const k8s = '/etc/containerd-k8s/config.toml';

/** Another binary runs, with a configuration of its own; the first one on the search path is only on the disk. */
const secondInstall = {
  files: {
    '/usr/local/bin/containerd': 'ELF',
    [`${own}/cmdline`]: `/usr/local/bin/containerd\0-c\0${k8s}\0`,
    [`${own}/exe`]: { link: '/usr/local/bin/containerd' },
    [k8s]: `version = 2\n${runtime(2, 'runc')}`,
    [root]: `version = 2\n${runtime(2, 'runc')}${nvidia(2)}`,
  },
  argv: [
    {
      argv: ['/usr/local/bin/containerd', '--version'],
      answer: 'containerd github.com/containerd/containerd v1.7.24 x\n',
    },
    { argv: ['/usr/bin/containerd', '--version'], answer: 'containerd github.com/containerd/containerd v1.6.20 x\n' },
  ],
};

test('tells two installations of which the wrong one was configured, by the command line of the running one', async () => {
  const host = await observeChanged('x86-containerd-1.7', secondInstall, liveWithoutNvidia);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${root}`,
      severity: 'blocker',
      evidence: [
        { source: `file:${root}`, quote: 'runtimes.nvidia' },
        { source: `file:${own}/cmdline`, quote: k8s },
        { quote: 'runtimes: runc' },
      ],
      remedy: null,
      person: expect.stringContaining(k8s),
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('proposes the file that the process reads where a job may write it', async () => {
  const site = '/etc/containerd/site.toml';
  const host = await observeChanged('x86-containerd-1.7', liveWithoutNvidia, {
    files: {
      [`${own}/cmdline`]: `/usr/bin/containerd\0--config=${site}\0`,
      [site]: `version = 2\n${runtime(2, 'runc')}`,
    },
  });
  expect(host.of(code)).toMatchObject([
    {
      remedy: {
        jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd', configPath: site } }],
        approval: 'window',
      },
    },
  ]);
});

test('tells that the kubelet’s socket belongs to a second containerd', async () => {
  const second = '/proc/32001';
  const host = await observeChanged('x86-containerd-1.7', {
    files: {
      [`${second}/comm`]: 'containerd\n',
      [`${second}/cmdline`]: `/usr/local/bin/containerd\0-c\0${k8s}\0-a\0/run/containerd-k8s/containerd.sock\0`,
      [`${second}/exe`]: { link: '/usr/local/bin/containerd' },
      [`${second}/cgroup`]: '0::/system.slice/containerd-k8s.service\n',
      '/usr/local/bin/containerd': 'ELF',
      [k8s]: `version = 2\n${runtime(2, 'runc')}`,
      [kubeletConfig]: (text) => text.replace('/run/containerd/', '/run/containerd-k8s/'),
    },
    argv: secondInstall.argv,
  });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${root}`,
      evidence: [{ source: `file:${root}` }, { source: `file:${second}/cmdline` }],
      person: expect.stringContaining('containerd-k8s.service'),
    },
  ]);
});

test('tells a containerd that was started after its files and still lacks nvidia', async () => {
  const host = await observeChanged('x86-containerd-2', liveWithoutNvidia);
  expect(host.of(code)).toMatchObject([{ subject: `file:${root}`, remedy: null }]);
});

test('is silent where the running one has nvidia, whatever lies beside it, and about a copy for docker', async () => {
  const withNvidia = { files: { [k8s]: `version = 2\n${runtime(2, 'runc')}${nvidia(2)}` } };
  expect((await observeChanged('x86-containerd-1.7', secondInstall, withNvidia)).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-2')).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', { files: { [dropIn]: `version = 2\n${nvidia(2)}` } })).of(code)).toEqual(
    [],
  );
});

test('k3s: a host file with nvidia is told while k3s’ own containerd lacks it, and only then', async () => {
  const hostFile = { files: { [root]: `version = 2\n${nvidia(2)}` } };
  expect((await observeChanged('k3s-server', hostFile)).of(code)).toEqual([]);
  const without = await observeChanged('k3s-server', hostFile, {
    commands: {
      'k3s crictl info': (text) => {
        const info = JSON.parse(text) as { config: { containerd: { runtimes: Record<string, unknown> } } };
        delete info.config.containerd.runtimes.nvidia;
        return JSON.stringify(info);
      },
    },
  });
  expect(without.of(code)).toMatchObject([
    { subject: `file:${root}`, remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'k3s' } }] } },
  ]);
});

test('cannot tell where the fact of containerd could not be read at all', async () => {
  const host = await observeChanged('x86-containerd-1.7', liveWithoutNvidia, {
    files: { [root]: { as: { error: 'hang' } }, '/etc/containerd/site.toml': `version = 2\n${nvidia(2)}` },
  });
  expect(host.of(code)).toEqual([]);
});
