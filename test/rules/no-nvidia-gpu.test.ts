import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { kernelLogDenied, kernelSays } from './kernel-log-changes.ts';

const code = 'NO_NVIDIA_GPU';

test('tells a host without an NVIDIA GPU, and has nothing to install there', async () => {
  const host = await observeChanged('no-gpu');
  expect(host.of(code)).toMatchObject([{ severity: 'info', layer: 'hardware', remedy: null, person: null }]);
  expect(host.causes()).toEqual([]);
});

test('NVIDIA’s sound function or root port alone is no GPU', async () => {
  const device = '/sys/devices/pci0000:00/0000:02:00.0';
  const host = await observeChanged('no-gpu', {
    files: { [`${device}/vendor`]: '0x10de\n', [`${device}/class`]: '0x040300\n', [`${device}/device`]: '0x10f0\n' },
  });
  expect(host.of(code)).toHaveLength(1);
});

test.each(['x86-docker', 'orin', 'thor'] as const)('is silent on %s', async (className) => {
  expect((await observeChanged(className)).of(code)).toEqual([]);
});

test.each<Changes>([
  { files: { '/proc/sys/fs/binfmt_misc/WSLInterop': 'enabled\n' } },
  { files: { '/dev/dxg': { special: { type: 'char', major: 10, minor: 125, mode: '0666' } } } },
])('is silent under WSL, where the GPU is not on the bus: %j', async (change) => {
  const host = await observeChanged('no-gpu', change);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toBeNull();
});

test('cannot tell when a part of the bus could not be read', async () => {
  const vendor = '/sys/devices/pci0000:00/0000:02:00.0/vendor';
  const unread = await observeChanged('no-gpu', { files: { [vendor]: { as: { error: 'EIO' } } } });
  expect(unread.of(code)).toEqual([]);
  expect(unread.untold(code)).toContain('io_error');
});

test('leaves a GPU that was there in this boot to the rule that tells of it', async () => {
  const loaded = await observeChanged('no-gpu', {
    files: { '/proc/modules': (text) => `nvidia 11587584 0 - Live 0x0\n${text}` },
  });
  expect([loaded.of(code), loaded.untold(code)]).toEqual([[], null]);
  expect(loaded.causes()).toEqual(['GPU_OFF_BUS']);
  const logged = await observeChanged(
    'no-gpu',
    kernelSays('NVRM: Xid (PCI:0000:42:00): 79, GPU has fallen off the bus.'),
  );
  expect([logged.of(code), logged.untold(code)]).toEqual([[], null]);
  expect(logged.causes()).toEqual(['GPU_OFF_BUS']);
});

test('goes by the log where a driver is installed, and does without where none ever was', async () => {
  const library = '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so';
  const installed: Changes = {
    files: { [`${library}.1`]: { link: 'libnvidia-ml.so.550.163.01' }, [`${library}.550.163.01`]: 'ELF' },
  };
  expect((await observeChanged('no-gpu', installed, kernelLogDenied)).untold(code)).toContain('(denied)');
  expect((await observeChanged('no-gpu', installed)).of(code)).toHaveLength(1);
  expect((await observeChanged('no-gpu', kernelLogDenied)).of(code)).toHaveLength(1);
});
