import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';

const code = 'RUNTIME_RESTART_PENDING';
const runtime = '/usr/bin/nvidia-container-runtime';
const without = (text: string) => text.replaceAll('"nvidia"', '"other"');
const crictl = {
  'k3s-server': 'k3s crictl info',
  'k3s-agent': 'k3s crictl info',
  'rke2-server': '/var/lib/rancher/rke2/bin/crictl --runtime-endpoint unix:///run/k3s/containerd/containerd.sock info',
} as const;
const lacks = (name: keyof typeof crictl): Changes => ({ commands: { [crictl[name]]: without } });
const installedAt = (mtimeMs: number): Changes => ({
  files: { [runtime]: { as: { mode: '0755', uid: 0, gid: 0, mtimeMs, error: null } } },
});
const later = installedAt(1_780_000_000_000 + 300_000_000);

test.each([
  ['k3s-server', 'k3s.service', { kind: 'restart_service', params: { unit: 'k3s', action: 'restart' } }],
  ['k3s-agent', 'k3s-agent.service', { kind: 'restart_service', params: { unit: 'k3s-agent', action: 'restart' } }],
  ['rke2-server', 'rke2-server.service', { kind: 'configure_runtime', params: { runtime: 'rke2' } }],
] as const)('on a %s tells the toolkit that came after the start of %s', async (name, unit, job) => {
  const host = await observeChanged(name, lacks(name), later);
  expect(host.of(code)).toMatchObject([
    { subject: `unit:${unit}`, severity: 'blocker', remedy: { jobs: [job], approval: 'window' } },
  ]);
  expect(host.of(code)[0]?.evidence.map(({ source }) => source.split(' ')[0])).toEqual([
    `file:${runtime}`,
    'command:systemctl',
    `command:${crictl[name].split(' ')[0]}`,
  ]);
});

test('finds the operator’s runtime first, as k3s does', async () => {
  const operator = '/usr/local/nvidia/toolkit/nvidia-container-runtime';
  const host = await observeChanged('k3s-server', lacks('k3s-server'), {
    files: {
      [operator]: { text: 'ELF', as: { mode: '0755', uid: 0, gid: 0, mtimeMs: 1_780_300_000_000, error: null } },
    },
  });
  expect(host.of(code)[0]?.evidence[0]?.source).toBe(`file:${operator}`);
});

test('is silent when k3s has nvidia, the runtime is older, or lies where k3s does not look', async () => {
  expect((await observeChanged('k3s-server', later)).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', lacks('k3s-server'))).of(code)).toEqual([]);
  const elsewhere: Changes = {
    files: {
      [runtime]: null,
      '/opt/nvidia/bin/nvidia-container-runtime': {
        text: 'ELF',
        as: { mode: '0755', uid: 0, gid: 0, mtimeMs: 1_780_300_000_000, error: null },
      },
    },
  };
  expect((await observeChanged('k3s-server', lacks('k3s-server'), elsewhere)).of(code)).toEqual([]);
});

test('reads the rendered file when k3s does not answer, and cannot tell without either', async () => {
  const path = '/var/lib/rancher/k3s/agent/etc/containerd/config.toml';
  const silent: Changes = { commands: { 'k3s crictl info': { timedOut: true } } };
  const plain: Changes = { files: { [path]: (text) => text.replaceAll("runtimes.'nvidia'", "runtimes.'other'") } };
  expect((await observeChanged('k3s-agent', silent, plain, later)).of(code)).toHaveLength(1);
  const neither = await observeChanged('k3s-agent', silent, later, { files: { [path]: null } });
  expect(neither.untold(code)).toContain('timed_out');
});

test('a package keeps the dates of its making: when it was unpacked counts', async () => {
  const list = '/var/lib/dpkg/info/nvidia-container-toolkit-base.list';
  const old = installedAt(1_600_000_000_000);
  const unpacked: Changes = { files: { [list]: { text: '/usr/bin\n', as: { mtimeMs: 1_780_300_000_000 } } } };
  for (const name of ['k3s-server', 'rke2-server'] as const) {
    const [finding] = (await observeChanged(name, lacks(name), old, unpacked)).of(code);
    expect(finding?.evidence[0]).toMatchObject({ source: `file:${list}`, quote: expect.stringMatching(/^changed 20/) });
  }
});
