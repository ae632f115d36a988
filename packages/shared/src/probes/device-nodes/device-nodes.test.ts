import { expect, test } from 'vitest';
import type { FileStat, HostReader } from '../../host/index.ts';
import { createFakeReader, type FakeHostParts } from '../testing/fake-reader.ts';
import { deviceNodesProbe } from './index.ts';
import { parseGroups, parseMajors } from './parse-device-files.ts';

const procDevices =
  'Character devices:\n  1 mem\n195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n226 drm\n509 nvidia-caps\n510 nvidia-uvm\n\nBlock devices:\n  7 loop\n259 nvidia-block\n';

/** The fake host with character devices: `path: [major, minor, mode, gid]`. */
async function collect(nodes: Record<string, [number, number, number, number]>, files: FakeHostParts['files'] = {}) {
  const named = Object.fromEntries(Object.keys(nodes).map((path) => [path, '']));
  const reader = createFakeReader({ files: { '/dev/null': '', '/proc/devices': procDevices, ...files, ...named } });
  const host: HostReader = {
    ...reader,
    async listDir(path) {
      const listed = await reader.listDir(path);
      if (!listed.ok) return listed;
      const value = listed.value.map((entry) =>
        nodes[`${path}/${entry.name}`] ? { ...entry, type: 'char' as const } : entry,
      );
      return { ok: true, value };
    },
    async lstat(path) {
      const node = nodes[path];
      if (!node) return reader.lstat(path);
      const [major, minor, mode, gid] = node;
      const value: FileStat = { type: 'char', size: 0, mode, uid: 0, gid, mtimeMs: 0, device: { major, minor } };
      return { ok: true, value };
    },
  };
  return deviceNodesProbe.collect({ host, sha256: () => '', earlier: {} });
}

test('lists the nodes with their owners, the majors, the links and the minor of each GPU', async () => {
  const { value, partial } = await collect(
    {
      '/dev/nvidia0': [195, 0, 0o666, 0],
      '/dev/nvidiactl': [195, 255, 0o666, 0],
      '/dev/nvidia-uvm': [510, 0, 0o660, 44],
      '/dev/nvidia-caps/nvidia-cap1': [509, 1, 0o400, 0],
      '/dev/dri/renderD128': [226, 128, 0o660, 104],
      '/dev/tty0': [4, 0, 0o620, 5],
    },
    {
      '/etc/group': 'root:x:0:\nvideo:x:44:user\n# comment\n',
      '/dev/char/195:0': { link: '../nvidia0' },
      '/dev/char/195:255': { link: '/dev/nvidiactl' },
      '/dev/char/510:0': { link: '../else' },
      '/proc/driver/nvidia/gpus/0000:65:00.0/information':
        'Model: \t\t NVIDIA L4\nIRQ:   \t\t 42\nBus Location: \t 0000:65:00.0\nDevice Minor: \t 0\nGPU Firmware: \t 570.148.08\nGPU Excluded:\t No\n',
      '/proc/driver/nvidia/gpus/0000:b3:00.0/information': 'Device Minor: \t 1\nGPU Excluded:\t Yes\n',
    },
  );
  expect(partial).toEqual([]);
  expect(value?.nodes.map(({ path, group }) => [path, group])).toEqual([
    ['/dev/nvidia-uvm', 'video'],
    ['/dev/nvidia0', 'root'],
    ['/dev/nvidiactl', 'root'],
    ['/dev/nvidia-caps/nvidia-cap1', 'root'],
    ['/dev/dri/renderD128', null],
  ]);
  expect(value?.majors).toEqual({
    nvidia: 195,
    'nvidia-modeset': 195,
    nvidiactl: 195,
    drm: 226,
    'nvidia-caps': 509,
    'nvidia-uvm': 510,
  });
  expect(value?.charLinks).toEqual([
    { path: '/dev/char/195:0', target: '../nvidia0' },
    { path: '/dev/char/195:255', target: '/dev/nvidiactl' },
  ]);
  expect(value?.gpuMinors).toEqual([
    { address: '0000:65:00.0', minor: 0, excluded: false },
    { address: '0000:b3:00.0', minor: 1, excluded: true },
  ]);
});

test('says what could not be read, and has no value without /dev', async () => {
  const { value, partial } = await collect(
    { '/dev/nvidia0': [195, 0, 0o666, 0] },
    { '/proc/devices': { fails: 'denied' }, '/proc/driver/nvidia/gpus': { fails: 'io_error' } },
  );
  expect(value).toMatchObject({ majors: {}, gpuMinors: [] });
  expect(partial).toEqual([
    { path: 'majors', because: 'denied' },
    { path: 'gpuMinors', because: 'io_error' },
  ]);
  const host = createFakeReader({ files: { '/dev': { fails: 'denied' } } });
  const { unreadable } = await deviceNodesProbe.collect({ host, sha256: () => '', earlier: {} });
  expect(unreadable?.because).toBe('denied');
});

test('takes nothing from text that is something else', () => {
  expect(parseMajors('')).toEqual({});
  expect(parseMajors('195 nvidia\n')).toEqual({});
  expect(parseMajors('Character devices:\r\n195 nvidia\r\nx nvidia-uvm\n99999999 nvidia-caps\n')).toEqual({
    nvidia: 195,
  });
  expect([...parseGroups('a:x:1:\nb:x:1:\nno\n:x:2:\n')]).toEqual([[1, 'a']]);
});
