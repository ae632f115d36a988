import { expect, test } from 'vitest';
import { failuresArgv } from '../../packages/shared/src/probes/workloads/index.ts';
import { observeChanged } from './changed-host.ts';
import { failedContainer } from './containers.ts';

const code = 'IMAGE_CARRIES_DRIVER_LIBS';
const mount =
  'nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/x/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists';

test('tells the image that carries a driver library', async () => {
  const [finding] = (
    await observeChanged('x86-docker', failedContainer('x86-docker', mount, { Image: 'example.com/team/own:1' }))
  ).of(code);
  expect(finding).toMatchObject({ subject: 'container:inference', severity: 'info', remedy: null });
  expect(finding?.summary).toContain('example.com/team/own:1');
  expect(finding?.evidence[0]?.quote).toContain('libnvidia-ml.so.1: file exists');
});

test('is silent on Tegra, and about a file that is none of the driver’s', async () => {
  expect((await observeChanged('orin', failedContainer('orin', mount))).of(code)).toEqual([]);
  const other = 'error mounting "/srv/x" to rootfs at "/data": file exists';
  expect((await observeChanged('x86-docker', failedContainer('x86-docker', other))).of(code)).toEqual([]);
});

test('cannot tell where only the journal could tell and it is not readable', async () => {
  const host = await observeChanged('k3s-server', { argv: [{ argv: failuresArgv, answer: 'not_recorded' }] });
  expect(host.untold(code)).toContain('journal');
});
