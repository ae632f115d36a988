import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { dropIn, lately, liveWithoutNvidia, root } from './containerd-hosts.ts';

const code = 'RUNTIME_RESTART_PENDING';
const changedLately = { files: { [dropIn]: { as: lately } } };

test('tells a drop-in that is newer than the daemon, which does not list nvidia', async () => {
  const host = await observeChanged('x86-containerd-2', changedLately, liveWithoutNvidia);
  expect(host.of(code)).toMatchObject([
    {
      subject: 'unit:containerd.service',
      severity: 'blocker',
      evidence: [{ source: `file:${dropIn}` }, {}, { quote: 'runtimes: runc' }],
      remedy: {
        jobs: [{ kind: 'restart_service', params: { unit: 'containerd', action: 'restart' } }],
        approval: 'window',
      },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('is silent while the daemon lists nvidia, on docker-only hosts, and about a file that would end the daemon', async () => {
  expect((await observeChanged('x86-containerd-2', changedLately)).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', { files: { [root]: { as: lately } } })).of(code)).toEqual([]);
  const broken = { files: { [root]: { text: 'version = \n', as: lately } } };
  expect((await observeChanged('x86-containerd-2', broken, liveWithoutNvidia)).of(code)).toEqual([]);
});

test('is no matter of a restart where the daemon is newer than its files', async () => {
  const host = await observeChanged('x86-containerd-2', liveWithoutNvidia);
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toEqual(['WRONG_RUNTIME_CONFIGURED']);
});

test('cannot tell of a newer file when only ctr answers', async () => {
  const host = await observeChanged('x86-containerd-2', changedLately, {
    absent: ['crictl'],
    commands: {
      'ctr --address /run/containerd/containerd.sock plugins ls':
        'TYPE ID PLATFORMS STATUS\nio.containerd.cri.v1 runtime linux/amd64 ok\n',
    },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('ctr_cannot_tell');
});
