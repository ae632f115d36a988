import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { boundTo, gpu, notLoaded } from './driver-changes.ts';

const code = 'GPU_BOUND_TO_OTHER_DRIVER';
const link = `file:/sys/bus/pci/devices/${gpu}/driver`;

test.each(['nouveau', 'nova_core', 'simple-framebuffer'])(
  'tells that %s holds the GPU, whatever its name',
  async (driver) => {
    const host = await observeChanged('x86-docker', notLoaded, boundTo(driver), {
      files: { '/etc/modprobe.d/nvidia-graphics-drivers.conf': null },
    });
    expect(host.of(code)).toMatchObject([
      {
        subject: link,
        severity: 'blocker',
        remedy: null,
        person: expect.stringContaining(`blacklist ${driver}`),
        evidence: [{ source: link, quote: `driver -> ${driver}` }],
      },
    ]);
    expect(host.causes()).toEqual([code]);
  },
);

test('knows a blacklist that the initramfs does not have yet', async () => {
  const host = await observeChanged('x86-docker', notLoaded, boundTo('nouveau'));
  expect(host.of(code)[0]?.person).toContain('rebuild the initramfs');
  expect(host.of(code)[0]?.evidence[1]?.quote).toBe('blacklist nouveau');
});

test.each([
  ['the command line', { '/proc/cmdline': 'vfio-pci.ids=10de:1eb8,10de:1aef\n' }, 'file:/proc/cmdline'],
  ['modprobe', { '/etc/modprobe.d/vfio.conf': 'options vfio-pci ids=10DE:1EB8\n' }, 'file:/etc/modprobe.d/vfio.conf'],
  [
    'sysfs',
    { [`/sys/devices/pci0000:00/${gpu}/driver_override`]: 'vfio-pci\n' },
    `file:/sys/bus/pci/devices/${gpu}/driver_override`,
  ],
])(
  'only informs of a GPU held for passthrough, as %s says, and never proposes to unbind it',
  async (_, files, source) => {
    const host = await observeChanged('x86-docker', notLoaded, boundTo('vfio-pci'), { files });
    expect(host.of(code)).toMatchObject([{ severity: 'info', remedy: null, evidence: [{ source: link }, { source }] }]);
    expect(host.causes()).toEqual([]);
  },
);

test('is silent when nvidia holds the GPU, or nothing does, and about other functions of the card', async () => {
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker', notLoaded)).of(code)).toEqual([]);
  const audio = '/sys/devices/pci0000:00/0000:02:00.0';
  const sound = await observeChanged('x86-docker', {
    files: {
      [`${audio}/vendor`]: '0x10de\n',
      [`${audio}/class`]: '0x040300\n',
      [`${audio}/driver`]: { link: '../../../bus/pci/drivers/snd_hda_intel' },
    },
  });
  expect(sound.of(code)).toEqual([]);
});

test('nouveau that is merely there is normal', async () => {
  const host = await observeChanged('x86-docker', {
    files: { '/proc/modules': (text) => `nouveau 2289664 0 - Live 0x0\n${text}` },
  });
  expect(host.of(code)).toEqual([]);
});

test('cannot tell when the bus could not be read', async () => {
  const host = await observeChanged('x86-docker', {
    files: { '/sys/bus/pci/devices': { special: { type: 'dir' }, as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('pci');
});
