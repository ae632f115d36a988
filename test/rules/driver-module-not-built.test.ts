import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { boundTo, dkms, kernel, modinfo, notLoaded, notOnDisk, older, otherLibrary } from './driver-changes.ts';

const code = 'DRIVER_MODULE_NOT_BUILT';
const forOlder: Changes = {
  files: {
    [`/usr/lib/modules/${older}/updates/dkms/nvidia.ko`]: '\u007fELF',
    [`${dkms}/${older}/x86_64/module/nvidia.ko`]: '\u007fELF',
    [`/var/lib/dkms/nvidia/kernel-${older}-x86_64`]: { link: `550.163.01/${older}/x86_64` },
  },
};
const noHeaders: Changes = { files: { [`/usr/lib/modules/${kernel}/build`]: null } };
const newKernel = [notLoaded, notOnDisk, forOlder, noHeaders] as const;

test('tells a kernel that was booted without headers, and for which kernel DKMS did build', async () => {
  const host = await observeChanged('x86-docker', ...newKernel);
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    severity: 'blocker',
    summary: expect.stringContaining('headers are not installed'),
    remedy: { jobs: [{ kind: 'repair_packages' }, { kind: 'load_modules' }], approval: 'approve' },
  });
  expect(finding?.evidence).toContainEqual({
    source: `file:/lib/modules/${older}/updates/dkms`,
    quote: `nvidia module for ${older}`,
  });
  expect(finding?.evidence).toContainEqual({
    source: `file:${dkms}`,
    quote: `nvidia/550.163.01, ${older}: installed`,
  });
  expect(finding?.evidence).toContainEqual({ source: `file:/lib/modules/${kernel}/build`, quote: 'absent' });
  expect(host.causes()).toEqual([code]);
});

test('nouveau on such a GPU is the consequence', async () => {
  const host = await observeChanged('x86-docker', ...newKernel, boundTo('nouveau'));
  expect(host.causes()).toEqual([code]);
});

test('leaves a build that failed to a person, and names its log', async () => {
  const log = `${dkms}/build/make.log`;
  const host = await observeChanged('x86-docker', notLoaded, notOnDisk, forOlder, { files: { [log]: 'error\n' } });
  expect(host.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining(log) }]);
});

test('tells it where prebuilt modules are missing and nothing but the library is there', async () => {
  const host = await observeChanged('x86-docker', notLoaded, notOnDisk, { files: { '/var/lib/dkms': null } });
  expect(host.of(code)).toHaveLength(1);
});

test('tells it of a driver that was upgraded for another kernel only', async () => {
  const host = await observeChanged('x86-docker', notOnDisk, forOlder, otherLibrary('550.170.04'));
  expect(host.of(code)).toHaveLength(1);
  expect(host.of('DRIVER_LIBRARY_MISMATCH')).toEqual([]);
});

test.each<[string, Changes[]]>([
  ['the file is there: rejected or blocked', [notLoaded, forOlder]],
  [
    'the file is there and not indexed yet',
    [notLoaded, { commands: { [modinfo]: { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } } }],
  ],
  ['the loaded module fits, though its file is gone', [notOnDisk, forOlder]],
  [
    'a restart into the other kernel is scheduled',
    [...newKernel, { files: { '/run/systemd/shutdown/scheduled': 'USEC=1800000600000000\nMODE=reboot\n' } }],
  ],
  ['every GPU is kept for guests', [...newKernel, boundTo('vfio-pci')]],
])('is silent when %s', async (_, changes) => {
  const host = await observeChanged('x86-docker', ...changes);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toBeNull();
});

test('is silent on Tegra', async () => {
  const host = await observeChanged('thor', {
    files: { '/proc/modules': '', '/usr/lib/modules/6.8.12-tegra/updates': null },
    commands: { [modinfo]: { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
  });
  expect(host.of(code)).toEqual([]);
});

test('cannot tell when the folders of modules could not be read', async () => {
  const host = await observeChanged('x86-docker', ...newKernel, {
    files: {
      [`/usr/lib/modules/${kernel}/kernel/drivers/video`]: { as: { error: 'EACCES' }, special: { type: 'dir' } },
    },
  });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('kernels');
});
