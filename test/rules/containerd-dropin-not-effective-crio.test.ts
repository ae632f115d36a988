import { expect, test } from 'vitest';
import { conf, crun, nvidia, observeCrio, status } from './crio-hosts.ts';

const code = 'CONTAINERD_DROPIN_NOT_EFFECTIVE';
const unread = '/etc/crio/conf.d/99-nvidia.toml';
const moved = {
  files: { '/etc/crio/crio.conf.d/99-nvidia.toml': null, [unread]: nvidia },
  commands: { [status]: crun },
};

test('tells a drop-in in the folder that CRI-O does not know', async () => {
  const host = await observeCrio(moved);
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${unread}`,
      severity: 'blocker',
      evidence: [{ source: `file:${unread}` }, { quote: 'runtimes: crun' }],
      remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'crio' } }], approval: 'window' },
    },
  ]);
  expect(host.of('CONTAINERD_RUNTIME_NOT_CONFIGURED')).toEqual([]);
});

test('is silent about a leftover beside a CRI-O that has nvidia', async () => {
  const host = await observeCrio({ files: { [unread]: nvidia } });
  expect(host.of(code)).toEqual([]);
});

test('cannot tell while a file that is read could not be', async () => {
  const host = await observeCrio(moved, { files: { [conf]: { as: { error: 'EACCES' } } } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('denied');
});
