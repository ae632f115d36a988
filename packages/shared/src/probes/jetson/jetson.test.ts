import { expect, test } from 'vitest';
import { dpkgQueryArgv } from '../packages/parse-dpkg.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { jetsonProbe } from './index.ts';
import { parseSoc } from './parse-device-tree.ts';
import { parsePowerModeQuery, parsePowerModes } from './parse-nvpmodel.ts';
import { parseL4tPackage, parseTegraRelease } from './parse-tegra-release.ts';

const release =
  '# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8\n# KERNEL_VARIANT: oot\n';
const board = {
  '/proc/device-tree/model': 'NVIDIA Jetson AGX Orin Developer Kit\0',
  '/proc/device-tree/compatible': 'nvidia,p3737-0000+p3701-0005\0nvidia,p3701-0005\0nvidia,tegra234\0',
};

const csv = '/etc/nvidia-container-runtime/host-files-for-container.d';
const kernel = { '/proc/sys/kernel/osrelease': '5.15.148-tegra\n', '/proc/modules': 'nvgpu 1 0 - Live 0x0\n' };
const row = (name: string, version: string) => `${name}\t${version}\tarm64\tinstall ok installed\n`;
const commands = {
  [dpkgQueryArgv.join(' ')]: row('nvidia-jetpack', '6.2+b77') + row('nvidia-l4t-core', '36.4.3-20250107174145'),
};

test('reads board, chip, release, power mode and what containers need', async () => {
  const { value, partial } = await collectOn(jetsonProbe, {
    files: {
      ...board,
      '/etc/nv_tegra_release': release,
      '/var/lib/nvpmodel/status': 'pmode:0002\n',
      '/etc/nvpmodel.conf':
        '# comment\n< POWER_MODEL ID=0 NAME=MAXN >\nCPU_ONLINE CORE_0 1\n< POWER_MODEL ID=2 NAME=MODE_30W >\n',
      [`${csv}/l4t.csv`]: 'dev, /dev/nvmap\n',
      [`${csv}/README`]: '',
      ...kernel,
      '/lib/modules/5.15.148-tegra/modules.dep': 'kernel/net/ipv4/netfilter/iptable_raw.ko: x\n',
    },
    commands,
  });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    isTegra: true,
    model: 'NVIDIA Jetson AGX Orin Developer Kit',
    soc: 'tegra234',
    l4t: '36.4.3',
    l4tFrom: 'release_file',
    jetpack: '6.2',
    hasReleaseFile: true,
    jetpackPackage: '6.2+b77',
    powerMode: { id: 2, name: 'MODE_30W' },
    livePowerMode: null,
    powerModes: [
      { id: 0, name: 'MAXN' },
      { id: 2, name: 'MODE_30W' },
    ],
    csvFiles: ['l4t.csv'],
    hasRawTable: true,
    rawTableSkippedBy: null,
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

test('takes the release of the package that dpkg lists', async () => {
  const { value } = await collectOn(jetsonProbe, { files: board, commands });
  expect(value).toMatchObject({ l4t: '36.4.3', hasReleaseFile: false, jetpackPackage: '6.2+b77' });
});

test.each([
  ['loaded', { '/proc/modules': 'iptable_raw 16384 1 - Live 0x0\n' }, true],
  ['built in', { '/lib/modules/5.15.148-tegra/modules.builtin': 'kernel/net/ipv4/netfilter/iptable_raw.ko\n' }, true],
  ['packed on disk', { '/lib/modules/5.15.148-tegra/modules.dep': 'updates/iptable_raw.ko.zst:\n' }, true],
  ['nowhere', { '/lib/modules/5.15.148-tegra/modules.dep': 'kernel/net/ip6table_raw_x.ko: kernel/y.ko\n' }, false],
  ['not known', {}, null],
])('iptable_raw that is %s', async (_, files, has) => {
  const { value } = await collectOn(jetsonProbe, { files: { ...board, ...kernel, ...files } });
  expect(value?.hasRawTable).toBe(has);
});

test('names the file that makes docker do without the raw table', async () => {
  const dropIn = '/etc/systemd/system/docker.service.d/no-raw.conf';
  const list = { '/lib/modules/5.15.148-tegra/modules.dep': 'kernel/a.ko:\n' };
  const on = async (files: Record<string, string>) =>
    (await collectOn(jetsonProbe, { files: { ...board, ...kernel, ...list, ...files } })).value?.rawTableSkippedBy;
  expect(await on({ [dropIn]: '[Service]\nEnvironment="DOCKER_INSECURE_NO_IPTABLES_RAW=1"\n' })).toBe(dropIn);
  expect(await on({ '/etc/docker/daemon.json': '{"iptables": false}' })).toBe('/etc/docker/daemon.json');
  expect(await on({ [dropIn]: '#Environment="DOCKER_INSECURE_NO_IPTABLES_RAW=1"\n' })).toBeNull();
});

test('says so when the release is not known', async () => {
  const { value, partial } = await collectOn(jetsonProbe, { files: { '/sys/devices/soc0/family': 'Tegra\n' } });
  expect(value).toMatchObject({ isTegra: true, l4t: null });
  expect(partial).toContainEqual({ path: 'l4t', because: 'absent' });
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

test('reads what nvpmodel says of the mode, and which parts of the GPU a mode switches', () => {
  const said = 'NVPM WARN: fan mode is not set!\nNV Power Mode: MODE_30W\n2\n';
  expect(parsePowerModeQuery(said)).toEqual({ id: 2, name: 'MODE_30W' });
  expect(parsePowerModeQuery('NVPM ERROR: failed\n')).toBeNull();
  const table =
    '< POWER_MODEL ID=0 NAME=MAXN >\nCPU_ONLINE CORE_0 1\n< POWER_MODEL ID=1 NAME=15W >\nTPC_POWER_GATING TPC_PG_MASK 252\n< PM_CONFIG DEFAULT=0 >\n';
  expect(parsePowerModes(table)).toEqual([
    { id: 0, name: 'MAXN' },
    { id: 1, name: '15W', gating: 'TPC_PG_MASK 252' },
  ]);
});
