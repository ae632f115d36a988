import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { driverProbe } from './index.ts';

const proprietary =
  'NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  Wed Feb 26 02:01:26 UTC 2025\nGCC version: x\n';
const open = 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.00  Release Build  (x)\n';
const modinfo = 'modinfo -F version nvidia';

const healthy = {
  '/proc/modules': 'nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1 nvidia_uvm, Live 0x0\next4 3 1 - Live 0x0\n',
  '/proc/driver/nvidia/version': proprietary,
  '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.570.124.06' },
  '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.124.06': 'ELF',
  '/usr/bin/nvidia-smi': 'ELF',
};

test('reads the versions that must agree', async () => {
  const { value, partial } = await collectOn(driverProbe, { files: healthy, commands: { [modinfo]: '570.124.06\n' } });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    modules: ['nvidia', 'nvidia_uvm'],
    loadedVersion: '570.124.06',
    flavour: 'proprietary',
    onDiskVersion: '570.124.06',
    libraryVersion: '570.124.06',
    libraryPath: '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1',
    hasNvidiaSmi: true,
    runningKernel: null,
    kernels: [],
    boot: expect.objectContaining({ modules: [], linkRules: [] }),
    dkms: [],
    modprobe: [],
    gspFirmware: [],
    otherLibraries: [],
    compatFolders: [],
  });
});

test("follows Debian's alternatives to the library's version", async () => {
  const { value } = await collectOn(driverProbe, {
    files: {
      '/proc/modules': '',
      '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: '/etc/alternatives/glx--libnvidia-ml.so.1' },
      '/etc/alternatives/glx--libnvidia-ml.so.1': {
        link: '/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1',
      },
      '/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.535.261.03' },
      '/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.535.261.03': 'ELF',
    },
    commands: { [modinfo]: '535.261.03' },
  });
  expect(value?.libraryVersion).toBe('535.261.03');
});

test('knows no module for this kernel from no answer', async () => {
  const files = { '/proc/modules': 'nouveau 1 0 - Live 0x0\n' };
  const none = await collectOn(driverProbe, {
    files,
    commands: { [modinfo]: { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
  });
  expect(none.value).toMatchObject({ modules: ['nouveau'], onDiskVersion: null, loadedVersion: null, flavour: null });
  expect(none.partial).toEqual([]);
  const unasked = await collectOn(driverProbe, { files });
  expect(unasked.partial).toEqual([{ path: 'onDiskVersion', because: 'absent' }]);
});

test.each([
  ['nvidia 1 0 - Live 0x0\n', open, 'open', '580.00'],
  ['nvgpu 1 0 - Live 0x0\nnvidia 1 0 - Live 0x0\n', open, 'nvgpu', '580.00'],
])('tells the flavour of the driver: %j', async (modules, version, flavour, loadedVersion) => {
  const { value } = await collectOn(driverProbe, {
    files: { '/proc/modules': modules, '/proc/driver/nvidia/version': version },
  });
  expect(value).toMatchObject({ flavour, loadedVersion });
});

test('passes over a dangling link and says when a file has no version in its name', async () => {
  const { value, partial } = await collectOn(driverProbe, {
    files: {
      '/proc/modules': '',
      '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.570.1.1' },
      '/usr/lib64/libnvidia-ml.so.1': 'ELF',
    },
    commands: { [modinfo]: '570.1.1\n' },
  });
  expect(value).toMatchObject({ libraryPath: '/usr/lib64/libnvidia-ml.so.1', libraryVersion: null });
  expect(partial).toEqual([{ path: 'libraryVersion', because: 'no_version_in_name' }]);
});

test('knows a kernel that cannot load modules', async () => {
  const { value, partial } = await collectOn(driverProbe, { files: { '/proc/sys/kernel/osrelease': '6.18.44\n' } });
  expect(value).toMatchObject({ modules: [], onDiskVersion: null });
  expect(partial).toEqual([]);
});

test('has no value without the list of modules', async () => {
  const { unreadable } = await collectOn(driverProbe, { files: { '/proc/modules': { fails: 'denied' } } });
  expect(unreadable?.because).toBe('denied');
});

test('tells what the next boot loads, and what links the nodes', async () => {
  const { value } = await collectOn(driverProbe, {
    files: {
      '/proc/modules': '',
      '/proc/sys/kernel/osrelease': '6.8.0-60-generic\n',
      '/etc/modules': '# old list\nloop\nnvidia-uvm\n',
      '/etc/modules-load.d/gpufleet.conf': '# Made by gpufleet\nnvidia\n;ib_umad\nib_umad\n',
      '/usr/lib/udev/rules.d/71-nvidia.rules': 'ACTION=="add", RUN+="/usr/bin/nvidia-modprobe"\n',
      '/etc/udev/rules.d/71-nvidia-dev-char.rules':
        'ACTION=="add", RUN+="/usr/bin/nvidia-ctk system create-dev-char-symlinks --create-all"\n',
    },
  });
  expect(value?.boot).toMatchObject({
    modules: [
      { module: 'nvidia', file: '/etc/modules-load.d/gpufleet.conf' },
      { module: 'ib_umad', file: '/etc/modules-load.d/gpufleet.conf' },
      { module: 'nvidia_uvm', file: '/etc/modules' },
    ],
    linkRules: ['/etc/udev/rules.d/71-nvidia-dev-char.rules'],
    ownModulesFile: { present: true },
    ownLinkRule: { present: false },
  });
});
