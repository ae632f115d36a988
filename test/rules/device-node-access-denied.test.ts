import { describe, expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { changedContainer, nothingTells, processOf } from './containers.ts';
import { journal, kernelLogDenied, kernelSays } from './kernel-log-changes.ts';

const code = 'DEVICE_NODE_ACCESS_DENIED';
const one = 'x86-docker';
const enforce = '/sys/fs/selinux/enforce';
const enforcing = { files: { [enforce]: '1' } };
const denial = (change = 'permissive=0') =>
  `audit: type=1400 audit(1700000000.123:456): avc:  denied  { read write } for  pid=4711 comm="nvidia-smi" name="nvidiactl" dev="devtmpfs" ino=512 scontext=system_u:system_r:container_t:s0:c1,c2 tcontext=system_u:object_r:xserver_misc_device_t:s0 tclass=chr_file ${change}`;

test('tells what SELinux denied a container', async () => {
  const host = await observeChanged(one, kernelSays(denial()), enforcing);
  expect(host.of(code)).toMatchObject([
    {
      subject: null,
      severity: 'blocker',
      summary: expect.stringContaining('nvidia-smi'),
      evidence: [{ source: `command:${journal}`, quote: denial() }],
      remedy: null,
      person: expect.stringContaining('restorecon'),
    },
  ]);
});

test('a record that the audit system has kept from the kernel log counts as well', async () => {
  const record = `[100000.000001] host-1 audit[4711]: AVC ${denial().slice(denial().indexOf('avc:'))}\n`;
  const host = await observeChanged(one, { commands: { [journal]: (log) => `${log}${record}` } }, enforcing);
  expect(host.of(code)).toHaveLength(1);
});

test('is silent on what was let pass, on denials of other files, and without any', async () => {
  expect((await observeChanged(one, kernelSays(denial('permissive=1')), enforcing)).of(code)).toEqual([]);
  expect((await observeChanged(one, kernelSays(denial('')), { files: { [enforce]: '0' } })).of(code)).toEqual([]);
  const other = denial().replace('nvidiactl', 'shadow').replace('xserver_misc_device_t', 'shadow_t');
  expect((await observeChanged(one, kernelSays(other), enforcing)).of(code)).toEqual([]);
  expect((await observeChanged(one, enforcing)).of(code)).toEqual([]);
});

test('without a denial the mode of the nodes says who is kept out', async () => {
  const special = { type: 'char', major: 195, minor: 0, mode: '0660' };
  const narrow = { files: { '/dev/nvidia0': { special } } };
  const host = await observeChanged(one, narrow);
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/dev/nvidia0',
      severity: 'warning',
      evidence: [{ source: 'file:/dev/nvidia0', quote: expect.stringContaining('mode 0660') }],
    },
  ]);
  expect((await observeChanged(one)).of(code)).toEqual([]);
  expect((await observeChanged('orin')).of(code)).toEqual([]);
});

test('cannot tell without the log', async () => {
  expect((await observeChanged(one, kernelLogDenied)).untold(code)).toContain('denied');
});

describe('a container that is neither root nor in the group of the nodes', () => {
  const kept = {
    files: { '/dev/nvmap': { special: { type: 'char', major: 10, minor: 120, mode: '0660' }, as: { gid: 44 } } },
  };
  const user = changedContainer('orin', { config: { User: '1000' } as object });

  test('is told on a Jetson with the number of the group that it lacks', async () => {
    const host = await observeChanged('orin', kept, user, processOf('orin', 1000, [1000]));
    expect(host.of(code)).toMatchObject([
      {
        subject: 'container:inference',
        severity: 'info',
        summary: expect.stringContaining('/dev/nvmap'),
        evidence: [
          { source: 'file:/dev/nvmap', quote: expect.stringContaining('mode 0660') },
          { quote: '"User":"1000"' },
          { source: 'file:/proc/*/status', quote: 'Uid: 1000, Groups: 1000' },
        ],
        remedy: null,
        person: expect.stringContaining('--group-add 44'),
      },
    ]);
  });

  test('is well with the group, as root, and where everybody may open them', async () => {
    expect((await observeChanged('orin', kept, user, processOf('orin', 1000, [44, 1000]))).of(code)).toEqual([]);
    expect((await observeChanged('orin', kept, processOf('orin', 0, []))).of(code)).toEqual([]);
    expect((await observeChanged(one, processOf('x86-docker', 1000, []))).of(code)).toEqual([]);
  });

  test('is not guessed at while it does not run, or while its process cannot be looked at', async () => {
    expect((await observeChanged('orin', kept, user)).of(code)).toEqual([]);
    const ended = changedContainer('orin', { state: { Running: false, ExitCode: 1 } });
    expect((await observeChanged('orin', kept, ended, processOf('orin', 1000, []))).of(code)).toEqual([]);
    expect((await observeChanged('orin', kept, { files: nothingTells.files ?? {} })).untold(code)).toContain('docker');
  });
});
