import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { boundTo, gpu, library, modinfo, notLoaded, notOnDisk, removed, version } from './driver-changes.ts';

const code = 'DRIVER_NOT_INSTALLED';
const bare = [notLoaded, notOnDisk, removed] as const;

test('tells a GPU without any driver, toolkit or not, and leaves the choice of branch to a person', async () => {
  const host = await observeChanged('x86-docker', ...bare);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({ severity: 'blocker', layer: 'driver', remedy: null, subject: null });
  expect(finding?.person).toContain('branch');
  expect(finding?.evidence[0]?.source).toBe(`file:/sys/bus/pci/devices/${gpu}/vendor`);
  expect(host.causes()).toEqual([code]);
});

test('nouveau on such a GPU is the consequence', async () => {
  const host = await observeChanged('x86-docker', ...bare, boundTo('nouveau'));
  expect(host.causes()).toEqual([code]);
  expect(host.of('GPU_BOUND_TO_OTHER_DRIVER')[0]?.consequenceOf).toEqual({ code, subject: null });
});

test.each([
  ['the library is on the host', { files: { [`${library}/libnvidia-ml.so.1`]: '\u007fELF' } }],
  [
    'a driver container has it',
    { files: { '/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1': { link: `libnvidia-ml.so.${version}` } } },
  ],
  ['every GPU is kept for guests', boundTo('vfio-pci')],
  [
    'the module is built for another kernel',
    { files: { '/usr/lib/modules/6.8.0-40-generic/updates/dkms/nvidia.ko': '' } },
  ],
])('is silent when %s', async (_, change) => {
  expect((await observeChanged('x86-docker', ...bare, change)).of(code)).toEqual([]);
});

test('is silent without a GPU and on Tegra', async () => {
  expect((await observeChanged('no-gpu')).of(code)).toEqual([]);
  const thor = await observeChanged('thor', {
    files: { '/proc/modules': '', '/proc/driver/nvidia': null, '/usr/lib/modules': null },
    commands: { [modinfo]: { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
  });
  expect(thor.of(code)).toEqual([]);
});

test('cannot tell when nobody can say what is on the disk', async () => {
  const host = await observeChanged('x86-docker', ...bare, { commands: { [modinfo]: 'not_recorded' } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('onDiskVersion');
});
