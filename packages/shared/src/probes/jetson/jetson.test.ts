import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { jetsonProbe } from './index.ts';
import { parseSoc } from './parse-device-tree.ts';
import { parseL4tPackage, parseTegraRelease } from './parse-tegra-release.ts';

const release =
  '# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8\n# KERNEL_VARIANT: oot\n';
const board = {
  '/proc/device-tree/model': 'NVIDIA Jetson AGX Orin Developer Kit\0',
  '/proc/device-tree/compatible': 'nvidia,p3737-0000+p3701-0005\0nvidia,p3701-0005\0nvidia,tegra234\0',
};

test('reads board, chip and release', async () => {
  const { value, partial } = await collectOn(jetsonProbe, { files: { ...board, '/etc/nv_tegra_release': release } });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    isTegra: true,
    model: 'NVIDIA Jetson AGX Orin Developer Kit',
    soc: 'tegra234',
    l4t: '36.4.3',
    jetpack: '6.2',
  });
});

test('is no Jetson without a sign of one', async () => {
  expect((await collectOn(jetsonProbe, {})).value).toMatchObject({ isTegra: false, l4t: null });
});

test('falls back to the package where the release file is missing', async () => {
  const status = 'Package: nvidia-l4t-core\nStatus: install ok installed\nVersion: 36.9.9-20250107174145\n\n';
  const { value } = await collectOn(jetsonProbe, { files: { ...board, '/var/lib/dpkg/status': status } });
  expect(value).toMatchObject({ isTegra: true, l4t: '36.9.9', jetpack: null });
});

test('says so when the release is not known', async () => {
  const { value, partial } = await collectOn(jetsonProbe, { files: { '/sys/devices/soc0/family': 'Tegra\n' } });
  expect(value).toMatchObject({ isTegra: true, l4t: null });
  expect(partial).toEqual([{ path: 'l4t', because: 'absent' }]);
});

test('completes a two-part release and refuses other texts', () => {
  expect(parseTegraRelease('# R34 (release), REVISION: 1.1, GCID: 1').value?.l4t).toBe('34.1.1');
  expect(parseTegraRelease('# R35 (release), REVISION: 1, GCID: 1').value?.l4t).toBe('35.1.0');
  expect(parseTegraRelease('R35').value).toBeNull();
  expect(parseL4tPackage('Package: other\nVersion: 1.2.3\n\nPackage: nvidia-l4t-core\nVersion: 35.4.1-1\n')).toBe(
    '35.4.1',
  );
  expect(parseL4tPackage('Package: nvidia-l4t-core\nStatus: x\n\nPackage: other\nVersion: 1.2.3\n')).toBeNull();
  expect(parseSoc('nvidia,p2771-0000\0nvidia,tegra186\0nvidia,tegra264\0')).toBe('tegra264');
});
