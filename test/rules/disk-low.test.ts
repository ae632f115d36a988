import { expect, test } from 'vitest';
import { dfArgv } from '../../packages/shared/src/probes/disk/parse-df.ts';
import { observeChanged } from './changed-host.ts';

const code = 'DISK_LOW';
const df = dfArgv.join(' ');
const header = 'Filesystem Type 1B-blocks Avail Inodes IFree Mounted on\n';
const gib = 1024 ** 3;
const row = (path: string, sizeGiB: number, freeGiB: number, inodes = '1000000 900000') =>
  `/dev/mmcblk0p1 ext4 ${Math.round(sizeGiB * gib)} ${Math.round(freeGiB * gib)} ${inodes} ${path}\n`;

test('a small eMMC with room for no image is told, with what df said', async () => {
  const host = await observeChanged('orin', { commands: { [df]: header + row('/', 28, 5.4) } });
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/var/lib/docker',
      severity: 'warning',
      summary: expect.stringContaining('5.4 GiB are free on /'),
      evidence: [{ source: `command:${df}`, quote: expect.stringContaining('bytes free on /') }],
      person: expect.stringContaining('prune'),
    },
  ]);
});

test('a file system without inodes is told as that, although bytes are free', async () => {
  const host = await observeChanged('x86-docker', { commands: { [df]: header + row('/', 800, 400, '1000000 120') } });
  expect(host.of(code)[0]?.summary).toContain('Inodes run out');
});

test('less than the kubelet wants is low on a large disk too', async () => {
  const low = { commands: { [df]: header + row('/', 1000, 90) } };
  expect((await observeChanged('x86-containerd-2', low)).of(code)).toHaveLength(1);
  expect((await observeChanged('x86-docker', low)).of(code)).toEqual([]);
});

test('only the file system of an engine counts, and one without a fixed number of inodes has none to lack', async () => {
  const roomy = row('/', 50, 2) + row('/var/lib', 500, 300, '0 0');
  expect((await observeChanged('x86-docker', { commands: { [df]: header + roomy } })).of(code)).toEqual([]);
});

test('cannot tell without an answer of df', async () => {
  const host = await observeChanged('x86-docker', { commands: { [df]: { timedOut: true } } });
  expect(host.untold(code)).toContain('timed_out');
});

test('the data folders of rke2, MicroK8s and CRI-O count as well', async () => {
  const low = { commands: { [df]: header + row('/', 1000, 90) } };
  const rke2 = await observeChanged('rke2-server', low);
  expect(rke2.of(code)).toHaveLength(1);
  expect(rke2.facts.disk.value?.dataRoots).toContainEqual({ of: 'rke2', path: '/var/lib/rancher/rke2', mount: '/' });
  const images = '/var/snap/microk8s/common/var/lib/containerd';
  const microk8s = await observeChanged('no-gpu', low, { files: { [`${images}/io`]: '' } });
  expect(microk8s.facts.disk.value?.dataRoots).toContainEqual({ of: 'microk8s', path: images, mount: '/' });
});

test('cannot tell of a folder that lies on no file system that df lists', async () => {
  const elsewhere = { commands: { [df]: header + row('/srv', 500, 300) } };
  expect((await observeChanged('x86-docker', elsewhere)).untold(code)).toContain('/var/lib/docker is not among those');
});
