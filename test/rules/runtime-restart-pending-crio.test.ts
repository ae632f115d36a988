import { expect, test } from 'vitest';
import { lately } from './containerd-hosts.ts';
import { crun, nvidia, observeCrio, status } from './crio-hosts.ts';

const code = 'RUNTIME_RESTART_PENDING';
const dropIn = '/etc/crio/crio.conf.d/99-nvidia.toml';
const changed = { files: { [dropIn]: { text: nvidia, as: lately } } };

test('tells a drop-in that is newer than CRI-O, which does not list nvidia', async () => {
  const host = await observeCrio(changed, { commands: { [status]: crun } });
  expect(host.of(code)).toMatchObject([
    { subject: 'unit:crio.service', evidence: [{ source: `file:${dropIn}` }, {}, { quote: 'runtimes: crun' }] },
  ]);
  expect(host.of(code)[0]?.person).toContain('crio.service');
});

test('is silent while CRI-O lists nvidia', async () => {
  expect((await observeCrio(changed)).of(code)).toEqual([]);
});

test('cannot tell while CRI-O does not answer', async () => {
  const host = await observeCrio(changed, { commands: { [status]: { exitCode: 1, stderr: 'connection refused\n' } } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('connection refused');
});
