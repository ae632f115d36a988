import { expect, test } from 'vitest';
import { collectOn, type FakeHostParts } from '../testing/fake-reader.ts';
import { driverProbe } from './index.ts';
import { parseGpuInformation, parseModprobe, parseModuleFile } from './parse-module-files.ts';

const modinfo = 'modinfo -F version nvidia';
const notFound = { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' };
const kernel = '6.8.0-45-generic';
const older = '6.8.0-40-generic';

async function collect(files: FakeHostParts['files'], commands: FakeHostParts['commands'] = { [modinfo]: notFound }) {
  const base = { '/proc/modules': '', '/proc/sys/kernel/osrelease': `${kernel}\n` };
  return await collectOn(driverProbe, { files: { ...base, ...files }, commands });
}

test('lists the modules of every kernel on the disk, and whether modules could be built for it', async () => {
  const { value, partial } = await collect({
    [`/lib/modules/${kernel}/kernel/drivers/video/vesafb.ko`]: '',
    [`/lib/modules/${kernel}/build`]: { link: `/usr/src/linux-headers-${kernel}` },
    [`/lib/modules/${older}/updates/dkms/nvidia.ko.zst`]: '',
    [`/lib/modules/${older}/updates/dkms/nvidia-uvm.ko.zst`]: '',
    [`/lib/modules/${older}/build/Makefile`]: '',
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({ runningKernel: kernel, onDiskVersion: null });
  expect(value?.kernels).toEqual([
    { kernel, running: true, modules: [], folder: null, headers: false },
    {
      kernel: older,
      running: false,
      modules: ['nvidia', 'nvidia_uvm'],
      folder: `/lib/modules/${older}/updates/dkms`,
      headers: true,
    },
  ]);
});

test.each([
  'updates/dkms/nvidia.ko',
  'kernel/drivers/video/nvidia.ko',
  'kernel/drivers/video/nvidia/nvidia.ko.xz',
  'extra/nvidia.ko.xz',
  'extra/nvidia/nvidia.ko.xz',
  'extra/drivers/video/nvidia/nvidia.ko',
  'weak-updates/nvidia/nvidia.ko',
  'weak-updates/updates/nvidia.ko',
  'kernel/nvidia-550srv/nvidia.ko',
  'updates/opensrc-disp/nvidia.ko',
  'updates/dkms/nvidia-current.ko',
])('finds the module where installers put it: %s', async (place) => {
  const { value } = await collect({ [`/lib/modules/${kernel}/${place}`]: '' });
  expect(value?.kernels[0]?.modules).toEqual(['nvidia']);
});

test("knows Debian's name of the module, and a file that no index has yet", async () => {
  const files = { [`/lib/modules/${kernel}/updates/dkms/nvidia-current.ko`]: '' };
  const debian = await collect(files, { [modinfo]: notFound, 'modinfo -F version nvidia-current': '535.261.03\n' });
  expect(debian.value?.onDiskVersion).toBe('535.261.03');
  expect(debian.partial).toEqual([]);
  const gone = { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia-current not found.\n' };
  const unindexed = await collect(files, { [modinfo]: notFound, 'modinfo -F version nvidia-current': gone });
  expect(unindexed.value?.onDiskVersion).toBeNull();
  expect(unindexed.partial).toEqual([{ path: 'onDiskVersion', because: 'module_not_indexed' }]);
});

test("reads DKMS's tree: added, built, installed, failed", async () => {
  const { value } = await collect({
    [`/var/lib/dkms/nvidia/550.107.02/${older}/x86_64/module/nvidia.ko`]: '',
    [`/var/lib/dkms/nvidia/kernel-${older}-x86_64`]: { link: `550.107.02/${older}/x86_64` },
    '/var/lib/dkms/nvidia/550.107.02/6.8.0-41-generic/x86_64/module/nvidia.ko': '',
    '/var/lib/dkms/nvidia/550.107.02/build/make.log': 'DKMS make.log for nvidia-550.107.02\n',
    '/var/lib/dkms/nvidia/550.107.02/source': { link: '/usr/src/nvidia-550.107.02' },
    '/var/lib/dkms/nvidia-current/535.261.03/source': { link: '/usr/src/nvidia-current-535.261.03' },
    '/var/lib/dkms/nvidia-fs/2.22.3/source': { link: '/usr/src/nvidia-fs-2.22.3' },
    '/var/lib/dkms/zfs/2.2.2/source': { link: '/usr/src/zfs-2.2.2' },
  });
  const failedLog = '/var/lib/dkms/nvidia/550.107.02/build/make.log';
  expect(value?.dkms).toEqual([
    { name: 'nvidia', version: '550.107.02', kernel: older, state: 'installed', failedLog },
    { name: 'nvidia', version: '550.107.02', kernel: '6.8.0-41-generic', state: 'built', failedLog },
    { name: 'nvidia-current', version: '535.261.03', kernel: null, state: 'added', failedLog: null },
  ]);
});

test("reads modprobe's configuration as modprobe does: the first file of a name counts", async () => {
  const { value, partial } = await collect({
    '/etc/modprobe.d/nvidia.conf':
      '# install nvidia /bin/true\n\ninstall nvidia \\\n  /bin/false\noptions nvidia-drm modeset=1\n',
    '/etc/modprobe.d/README': 'blacklist nvidia\n',
    '/usr/lib/modprobe.d/nvidia.conf': 'blacklist nvidia\n',
    '/usr/lib/modprobe.d/blacklist.conf': 'blacklist nouveau\nblacklist pcspkr\nalias nvidia off\n',
    '/proc/cmdline': 'quiet module_blacklist=nvidia,nvidia-uvm modprobe.blacklist=nouveau nvidia.NVreg_X=1\n',
  });
  expect(partial).toEqual([]);
  const shown = value?.modprobe.map(({ file, line, directive, module, text }) =>
    [file, line, directive, module, text].join(' | '),
  );
  expect(shown).toEqual([
    '/etc/modprobe.d/nvidia.conf | 3 | install | nvidia | install nvidia \\ /bin/false'.replace(' \\', ''),
    '/etc/modprobe.d/nvidia.conf | 5 | options | nvidia_drm | options nvidia-drm modeset=1',
    '/usr/lib/modprobe.d/blacklist.conf | 1 | blacklist | nouveau | blacklist nouveau',
    '/usr/lib/modprobe.d/blacklist.conf | 3 | alias | nvidia | alias nvidia off',
    '/proc/cmdline | 1 | kernel_blacklist | nvidia | module_blacklist=nvidia,nvidia-uvm',
    '/proc/cmdline | 1 | kernel_blacklist | nvidia_uvm | module_blacklist=nvidia,nvidia-uvm',
    '/proc/cmdline | 1 | blacklist | nouveau | modprobe.blacklist=nouveau',
    '/proc/cmdline | 1 | options | nvidia | nvidia.NVreg_X=1',
  ]);
  const denied = await collect({
    '/etc/modprobe.d/a.conf': { fails: 'denied' },
    '/etc/modprobe.d/b.conf': { fails: 'denied' },
  });
  expect(denied.partial).toEqual([{ path: 'modprobe', because: 'denied' }]);
});

test('tells firmware of each GPU, libraries in other roots and compatibility folders', async () => {
  const { value } = await collect({
    '/proc/driver/nvidia/gpus/0000:65:00.0/information': 'GPU Firmware: \t 570.148.08\n',
    '/proc/driver/nvidia/gpus/0000:b3:00.0/information': 'GPU Firmware: \t N/A\n',
    '/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.570.148.08' },
    '/usr/local/cuda-12.4/compat/libcuda.so.1': '',
  });
  expect(value?.gspFirmware).toEqual([
    { address: '0000:65:00.0', version: '570.148.08' },
    { address: '0000:b3:00.0', version: null },
  ]);
  expect(value?.otherLibraries).toEqual([
    { root: '/run/nvidia/driver', path: '/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1', version: '570.148.08' },
  ]);
  expect(value?.compatFolders).toEqual(['/usr/local/cuda-12.4/compat']);
});

test.each([
  ['nvidia.ko', 'nvidia'],
  ['nvidia-uvm.ko.xz', 'nvidia_uvm'],
  ['nvidia-current-modeset.ko', 'nvidia_modeset'],
  ['nvidia-tesla-470-drm.ko', 'nvidia_drm'],
  ['nvidia-legacy-390xx.ko', 'nvidia'],
  ['nvidia-fs.ko', null],
  ['nvidiafb.ko', null],
  ['nvidia.ko.bak', null],
])('the module in %s', (file, module) => expect(parseModuleFile(file)).toBe(module));

test('takes nothing for a setting that is none, and comes to an end', () => {
  expect(parseModprobe('blacklist\ninstall\nblacklistnvidia\nblacklist e1000\n', 'f')).toEqual([]);
  expect(parseModprobe('\\\n'.repeat(20_000), 'f')).toEqual([]);
  expect(parseModprobe('\uFEFFblacklist nvidia\r\n', 'f')).toHaveLength(1);
  expect(parseGpuInformation('Device Minor: \t x\n')).toEqual({ minor: null, firmware: null, excluded: false });
});
