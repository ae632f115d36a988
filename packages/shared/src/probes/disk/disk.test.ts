import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { diskProbe } from './index.ts';
import { dfArgv, mountOf, parseDf } from './parse-df.ts';

const df = dfArgv.join(' ');
const text = `Filesystem     Type    1B-blocks       Avail   Inodes    IFree Mounted on
/dev/nvme0n1p2 ext4 270553174016 83330293760 16777216 16306455 /
/dev/mapper/data store xfs   1000000000000 -4096 500 0 /data/with blank
/dev/sdb1      btrfs 2000398934016 1000 0 0 /data
`;

test('reads size, space and inodes of each file system, and what it cannot know is null', async () => {
  const { value, partial } = await collectOn(diskProbe, {
    commands: { [df]: text },
    files: { '/var/lib/docker/': '' },
  });
  expect(partial).toEqual([]);
  expect(value?.mounts).toEqual([
    {
      path: '/',
      device: '/dev/nvme0n1p2',
      fsType: 'ext4',
      sizeBytes: 270553174016,
      availableBytes: 83330293760,
      inodes: 16777216,
      inodesAvailable: 16306455,
    },
    expect.objectContaining({ path: '/data/with blank', device: '/dev/mapper/data store', availableBytes: 0 }),
    expect.objectContaining({ path: '/data', inodes: null, inodesAvailable: null }),
  ]);
  expect(value?.dataRoots).toEqual([{ of: 'docker', path: '/var/lib/docker', mount: '/' }]);
});

test('a data root that is a link lies where the link leads', async () => {
  const files = { '/var/lib/docker': { link: '/data/docker' }, '/var/lib/kubelet/': '' };
  const { value } = await collectOn(diskProbe, { commands: { [df]: text }, files });
  expect(value?.dataRoots).toEqual([
    { of: 'docker', path: '/data/docker', mount: '/data' },
    { of: 'kubelet', path: '/var/lib/kubelet', mount: '/' },
  ]);
});

test('one file system that df could not ask leaves the others readable', async () => {
  const stderr = 'df: /mnt/old: Transport endpoint is not connected\n';
  const { value, partial } = await collectOn(diskProbe, { commands: { [df]: { stdout: text, stderr, exitCode: 1 } } });
  expect(value?.mounts).toHaveLength(3);
  expect(partial?.[0]?.because).toContain('Transport endpoint');
});

test('says why nothing is known', async () => {
  expect(
    (await collectOn(diskProbe, { commands: { [df]: { timedOut: true, exitCode: null } } })).unreadable?.because,
  ).toBe('timed_out');
  const usage = { stderr: "df: unrecognized option '--output'\n", exitCode: 1 };
  expect((await collectOn(diskProbe, { commands: { [df]: usage } })).unreadable).toEqual({
    because: 'no_answer',
    detail: "df: unrecognized option '--output'",
  });
});

test('no text makes the parser throw or find a place twice', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => void parseDf(any)));
  expect(mountOf('/database', parseDf(text).value ?? [])).toBe('/');
});
