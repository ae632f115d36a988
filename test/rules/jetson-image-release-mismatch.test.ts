import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { changedContainer } from './containers.ts';

const code = 'JETSON_IMAGE_RELEASE_MISMATCH';
const withImage = (Image: string) => observeChanged('orin', changedContainer('orin', { config: { Image } }));

test.each([
  'example.com/l4t-ml:r34.1.0-py3',
  'example.com/l4t-base:r35.2.1',
  'example.com/l4t-pytorch:r32.7.1-pth1.10-py3',
  'example.com/l4t-jetpack:r36.9.0',
])('tells %s on a board with R36.4', async (image) => {
  const [finding] = (await withImage(image)).of(code);
  expect(finding).toMatchObject({ subject: 'container:inference', severity: 'info', remedy: null });
  expect(finding?.evidence[0]?.quote).toContain(image);
  expect(finding?.person).toContain('L4T 36');
});

test.each(['example.com/l4t-jetpack:r36.2.0', 'example.com/cuda:12.6.0-base-ubuntu22.04', 'ubuntu:22.04'])(
  'is silent on %s',
  async (image) => {
    expect((await withImage(image)).of(code)).toEqual([]);
  },
);

test('is silent on a server, whatever the tag', async () => {
  const host = await observeChanged(
    'x86-docker',
    changedContainer('x86-docker', { config: { Image: 'example.com/x:r35.2' } }),
  );
  expect(host.of(code)).toEqual([]);
});

test('cannot tell on a board that does not say which release it runs', async () => {
  const old = changedContainer('orin', { config: { Image: 'example.com/l4t-base:r35.2.1' } });
  const mute = { files: { '/etc/nv_tegra_release': 'something else\n' }, absent: ['dpkg-query'] };
  expect((await observeChanged('orin', old, mute)).untold(code)).toContain('which L4T release');
});

test('quotes the package where the board has no release file', async () => {
  const host = await observeChanged(
    'orin',
    changedContainer('orin', { config: { Image: 'example.com/l4t-base:r35.2.1' } }),
    { files: { '/etc/nv_tegra_release': null } },
  );
  expect(host.of(code)[0]?.evidence[1]).toMatchObject({
    source: expect.stringContaining('command:dpkg-query'),
    quote: expect.stringMatching(/^nvidia-l4t-core 36\./),
  });
});
