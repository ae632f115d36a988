import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { dropIn, lately, liveWithoutNvidia, nvidia, root, runtime } from './containerd-hosts.ts';

const code = 'CONTAINERD_DROPIN_NOT_EFFECTIVE';
const wrongFolder = '/etc/containerd/config.d/99-nvidia.toml';
const written = `version = 3\n${nvidia(3)}`;

test('tells a drop-in in a folder that no import names, as toolkit 1.18.0 wrote it', async () => {
  const host = await observeChanged('x86-containerd-2', liveWithoutNvidia, {
    files: { [dropIn]: null, [wrongFolder]: written },
    commands: { 'nvidia-ctk --version': (text) => text.replace(/version \S+/, 'version 1.18.0') },
  });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${wrongFolder}`,
      severity: 'blocker',
      evidence: [
        { source: `file:${wrongFolder}`, quote: 'runtimes.nvidia' },
        { source: `file:${root}`, quote: 'imports: /etc/containerd/conf.d/*.toml' },
        { quote: 'runtimes: runc' },
      ],
      remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'containerd' } }], approval: 'window' },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('tells a drop-in beside a root file that imports nothing', async () => {
  const host = await observeChanged('x86-containerd-1.7', liveWithoutNvidia, {
    files: { [root]: `version = 2\n${runtime(2, 'runc')}`, [dropIn]: `version = 2\n${nvidia(2)}` },
  });
  expect(host.of(code)).toMatchObject([{ evidence: [{}, { quote: 'imports: (none)' }, {}] }]);
});

test('is silent about a file that is imported and waits for a restart', async () => {
  const host = await observeChanged('x86-containerd-2', liveWithoutNvidia, {
    files: { [dropIn]: { text: written, as: lately } },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toEqual(['RUNTIME_RESTART_PENDING']);
});

test('is silent about a leftover beside a configuration that has nvidia, on docker-only hosts and behind k3s', async () => {
  expect((await observeChanged('x86-containerd-2', { files: { [wrongFolder]: written } })).causes()).toEqual([]);
  expect((await observeChanged('x86-docker', { files: { [wrongFolder]: written } })).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', { files: { [wrongFolder]: written } })).of(code)).toEqual([]);
});

test('cannot tell while the root file may not be read', async () => {
  const host = await observeChanged('x86-containerd-2', liveWithoutNvidia, {
    files: { [root]: { as: { error: 'EACCES' } }, [dropIn]: null, [wrongFolder]: written },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('config.toml: denied');
});
