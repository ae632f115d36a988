import { expect, test } from 'vitest';
import { parseCgroup } from '../parse-cgroup.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { gpuHoldersProbe } from './index.ts';
import { parseModuleUsers } from './parse-module-users.ts';

const container = 'ab'.repeat(32);
const modules = `nvidia_uvm 1789952 2 - Live 0x0
nvidia_fs 262144 0 - Live 0x0
nvidia_drm 131072 0 - Live 0x0
nvidia_modeset 1724416 1 nvidia_drm, Live 0x0
nvidia 11587584 19 nvidia_uvm,nvidia_fs,nvidia_modeset, Live 0x0
overlay 151552 12 - Live 0x0
`;

function process(pid: number, comm: string, cgroup: string, ...opens: string[]) {
  return {
    [`/proc/${pid}/comm`]: `${comm}\n`,
    [`/proc/${pid}/cgroup`]: cgroup,
    [`/proc/${pid}/exe`]: { link: `/usr/bin/${comm}` },
    [`/proc/${pid}/fd/0`]: { link: '/dev/null' },
    ...Object.fromEntries(opens.map((path, at) => [`/proc/${pid}/fd/${at + 3}`, { link: path }])),
  };
}

const node = { '/dev/nvidiactl': '' };

test('names processes with the nodes that they have open, and whose they are', async () => {
  const { value, partial } = await collectOn(gpuHoldersProbe, {
    files: {
      ...node,
      '/proc/modules': modules,
      ...process(1, 'systemd', '0::/init.scope\n'),
      ...process(
        900,
        'nvidia-persiste',
        '0::/system.slice/nvidia-persistenced.service\n',
        '/dev/nvidiactl',
        '/dev/nvidia0',
      ),
      ...process(
        4711,
        'python3',
        `0::/system.slice/docker-${container}.scope\n`,
        '/dev/nvidia0',
        '/dev/nvidia0',
        '/dev/nvidia-uvm',
      ),
    },
  });
  expect(partial).toEqual([]);
  expect(value?.holders.filter(({ kind }) => kind === 'process')).toEqual([
    {
      kind: 'process',
      pid: 900,
      name: 'nvidia-persiste',
      command: '/usr/bin/nvidia-persiste',
      paths: ['/dev/nvidia0', '/dev/nvidiactl'],
      unit: 'nvidia-persistenced.service',
      containerId: null,
      pod: null,
      useCount: null,
    },
    expect.objectContaining({
      pid: 4711,
      containerId: container,
      unit: null,
      paths: ['/dev/nvidia-uvm', '/dev/nvidia0'],
    }),
  ]);
});

test('names the modules that stand on NVIDIA’s, with what uses them beside each other', () => {
  expect(parseModuleUsers(modules)).toEqual([
    { name: 'nvidia_uvm', useCount: 2 },
    { name: 'nvidia_fs', useCount: 0 },
    { name: 'nvidia_drm', useCount: 0 },
    { name: 'nvidia_modeset', useCount: 0 },
  ]);
  expect(parseModuleUsers('nvidia\n\0 1 2')).toEqual([]);
});

test('says once that processes could not be looked into, however many', async () => {
  const { value, partial } = await collectOn(gpuHoldersProbe, {
    files: {
      ...node,
      ...process(500, 'own', '0::/user.slice/user-1000.slice/session-3.scope\n', '/dev/nvidiactl'),
      '/proc/600/fd': { fails: 'denied' },
      '/proc/601/fd': { fails: 'denied' },
    },
  });
  expect(value?.holders).toMatchObject([{ pid: 500, unit: 'session-3.scope' }]);
  expect(partial).toEqual([{ path: 'holders', because: 'denied' }]);
});

test('names the modules and the reason when no process could be looked into', async () => {
  const denied = await collectOn(gpuHoldersProbe, { files: { ...node, '/proc/600/fd': { fails: 'denied' } } });
  expect(denied).toMatchObject({ value: { holders: [] }, partial: [{ path: 'holders', because: 'denied' }] });
  const unseen = await collectOn(gpuHoldersProbe, { files: { ...node, '/proc/modules': modules } });
  expect(unseen.value?.holders.map(({ kind }) => kind)).toEqual(Array(4).fill('kernel_module'));
  expect(unseen.partial).toEqual([{ path: 'holders', because: 'no_processes' }]);
  const gone = await collectOn(gpuHoldersProbe, { files: node });
  expect(gone.partial).toEqual([{ path: 'holders', because: 'absent' }]);
});

test('still names a process that ended while it was looked at', async () => {
  const { value } = await collectOn(gpuHoldersProbe, {
    files: { ...node, '/proc/700/fd/3': { link: '/dev/nvidia1 (deleted)' } },
  });
  expect(value?.holders).toMatchObject([
    { pid: 700, name: 'pid 700', command: null, paths: ['/dev/nvidia1'], unit: null },
  ]);
});

test('looks into no process where there is no GPU to hold', async () => {
  const { value, reader } = await collectOn(gpuHoldersProbe, {
    files: process(1, 'systemd', '0::/init.scope\n'),
  });
  expect(value).toEqual({ holders: [] });
  expect([...reader.reads.files]).not.toContain('/proc/1/fd');
});

const pod = '01234567-89ab-cdef-0123-456789abcdef';
test.each([
  ['0::/system.slice/nvidia-dcgm.service', { unit: 'nvidia-dcgm.service', containerId: null, pod: null }],
  [
    `0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${pod.replaceAll('-', '_')}.slice/cri-containerd-${container}.scope`,
    { unit: null, containerId: container, pod },
  ],
  [
    `12:pids:/user.slice\n5:devices:/kubepods/burstable/pod${pod}/${container}\n1:name=systemd:/system.slice/x.service`,
    { unit: null, containerId: container, pod },
  ],
  [`0::/docker/${container}`, { unit: null, containerId: container, pod: null }],
  [`0::/machine.slice/libpod-${container}.scope/container`, { unit: null, containerId: container, pod: null }],
  ['0::/', { unit: null, containerId: null, pod: null }],
  ['', { unit: null, containerId: null, pod: null }],
])('reads %j', (text, owner) => {
  expect(parseCgroup(text)).toMatchObject(owner);
});
