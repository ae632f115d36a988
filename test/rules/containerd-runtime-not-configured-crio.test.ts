import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { conf, crun, nvidia, observeCrio, status } from './crio-hosts.ts';

const code = 'CONTAINERD_RUNTIME_NOT_CONFIGURED';
const without = { files: { '/etc/crio/crio.conf.d/99-nvidia.toml': null }, commands: { [status]: crun } };

test('tells a kubelet’s CRI-O without a handler nvidia', async () => {
  const host = await observeCrio(without);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${conf}`,
      severity: 'blocker',
      evidence: [
        { source: 'command:crio status config', quote: 'runtimes: crun' },
        { source: `file:${conf}`, quote: 'runtimes with its drop-ins: crun' },
        { quote: 'RuntimeClass with handler nvidia' },
      ],
      remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'crio' } }], approval: 'window' },
    },
  ]);
});

test('is silent where CRI-O has it, where another engine runs the pods, and on files without a daemon', async () => {
  const healthy = await observeCrio();
  expect(healthy.of(code)).toEqual([]);
  expect(healthy.causes()).toEqual([]);
  const beside = { '/usr/bin/crio': 'ELF', [conf]: crun };
  expect((await observeChanged('x86-containerd-2', { files: beside })).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', { files: { [conf]: nvidia } })).of(code)).toEqual([]);
});

test('cannot tell from a file that is no TOML', async () => {
  const host = await observeCrio(without, { files: { [conf]: '[crio' } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('not_toml');
});
