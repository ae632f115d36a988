import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { kernel, library, modinfo, notLoaded, otherLibrary } from './driver-changes.ts';

const code = 'UVM_OR_DEVICE_NODES_MISSING';
const withoutUvm: Changes = {
  files: {
    '/proc/modules': (text) => text.replace(/^nvidia_uvm.*\n/m, ''),
    '/proc/devices': (text) => text.replace(/^.*nvidia-uvm\n/m, ''),
    '/dev/nvidia-uvm': null,
    '/dev/nvidia-uvm-tools': null,
  },
};

test('tells unified memory that was not loaded after boot while nvidia-smi is fine', async () => {
  const host = await observeChanged('x86-docker', withoutUvm);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      summary: expect.stringContaining('nvidia_uvm is not loaded'),
      evidence: [
        { source: 'file:/proc/modules', quote: 'nvidia, and no nvidia_uvm' },
        { source: 'file:/dev/nvidia-uvm', quote: 'absent' },
      ],
      remedy: { jobs: [{ kind: 'load_modules' }], approval: 'auto' },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('tells each node that is missing for a GPU that the driver holds', async () => {
  const host = await observeChanged('x86-containerd-2', { files: { '/dev/nvidia1': null, '/dev/nvidiactl': null } });
  expect(host.of(code)[0]?.evidence).toEqual([
    { source: 'file:/dev/nvidiactl', quote: 'absent' },
    { source: 'file:/dev/nvidia1', quote: 'absent' },
  ]);
});

test('counts nodes where the driver does not tell minors', async () => {
  const host = await observeChanged('x86-containerd-2', {
    files: { '/dev/nvidia1': null, '/proc/driver/nvidia/gpus': null },
  });
  expect(host.of(code)[0]?.evidence).toEqual([{ source: 'file:/dev', quote: '1 nodes /dev/nvidiaN for 2 GPUs' }]);
});

test('tells a node that was kept from another load of the module', async () => {
  const host = await observeChanged('x86-docker', {
    files: { '/dev/nvidia-uvm': { special: { type: 'char', major: 507, minor: 0, mode: '0666' } } },
  });
  expect(host.of(code)[0]?.evidence).toEqual([
    { source: 'file:/dev/nvidia-uvm', quote: 'major 507' },
    { source: 'file:/proc/devices', quote: '510 nvidia-uvm' },
  ]);
});

test('has a person repair packages that lack the module, and load it below an LXC guest', async () => {
  const noFile = { files: { [`/usr/lib/modules/${kernel}/updates/dkms/nvidia-uvm.ko`]: null } };
  const lacking = await observeChanged('x86-docker', withoutUvm, noFile);
  expect(lacking.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining('not on disk') }]);
  const lxc = { files: { '/run/systemd/container': 'lxc' } };
  const guest = await observeChanged('x86-docker', withoutUvm, lxc);
  expect(guest.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining('machine that runs') }]);
});

test('is the consequence of a driver that was changed under the loaded module', async () => {
  const host = await observeChanged('x86-docker', withoutUvm, otherLibrary('550.170.04'), {
    commands: { [modinfo]: '550.170.04\n' },
  });
  expect(host.of(code)[0]?.consequenceOf?.code).toBe('DRIVER_LIBRARY_MISMATCH');
});

test.each<[string, Changes[]]>([
  ['the driver is not loaded at all', [notLoaded]],
  ['the agent itself is in a container, whose /dev is its own', [withoutUvm, { files: { '/.dockerenv': '' } }]],
  [
    'a driver container makes the nodes below its own root',
    [
      withoutUvm,
      {
        files: {
          [`${library}/libnvidia-ml.so.1`]: null,
          '/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.550.163.01' },
        },
      },
    ],
  ],
  [
    'the host only lends vGPUs',
    [withoutUvm, { files: { '/proc/modules': (text) => `nvidia_vgpu_vfio 1 0 - Live 0x0\n${text}` } }],
  ],
  [
    'the driver leaves a GPU out on demand',
    [
      {
        files: {
          '/dev/nvidia0': null,
          '/proc/driver/nvidia/gpus/0000:14:00.0/information': (text) => text.replace(/(GPU Excluded:\s*)No/, '$1Yes'),
        },
      },
    ],
  ],
])('is silent when %s', async (_, changes) => {
  expect((await observeChanged('x86-docker', ...changes)).of(code)).toEqual([]);
});

test('is silent on Tegra', async () => {
  expect((await observeChanged('orin', withoutUvm)).of(code)).toEqual([]);
});

test('cannot tell when /dev could not be read', async () => {
  const host = await observeChanged('x86-docker', {
    files: { '/dev': { special: { type: 'dir' }, as: { error: 'EACCES' } } },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('device_nodes');
});
