import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { pciProbe } from './index.ts';
import { isDeadConfig, parsePciOptions } from './parse-pci-id.ts';

function device(address: string, vendor: string, classCode: string, driver?: string) {
  const folder = `/sys/bus/pci/devices/${address}`;
  return {
    [`${folder}/vendor`]: `${vendor}\n`,
    [`${folder}/device`]: '0x2330\n',
    [`${folder}/class`]: `${classCode}\n`,
    ...(driver ? { [`${folder}/driver`]: { link: `../../../bus/pci/drivers/${driver}` } } : {}),
  };
}

test('lists NVIDIA GPUs with the driver that holds each, and nothing else on the bus', async () => {
  const { value, partial } = await collectOn(pciProbe, {
    files: {
      ...device('0000:00:02.0', '0x8086', '0x030000', 'i915'),
      ...device('0000:65:00.0', '0x10de', '0x030200', 'nvidia'),
      ...device('0000:65:00.1', '0x10de', '0x040300', 'snd_hda_intel'),
      ...device('0000:b1:00.0', '0x10DE', '0x030000'),
    },
  });
  expect(partial).toEqual([]);
  expect(value?.gpus.map(({ address, driver, deviceId }) => [address, driver, deviceId])).toEqual([
    ['0000:65:00.0', 'nvidia', '2330'],
    ['0000:b1:00.0', null, '2330'],
  ]);
});

test('knows a kernel without PCI from a /sys that cannot be read', async () => {
  expect((await collectOn(pciProbe, { files: { '/sys/bus/usb/devices/': '' } })).value?.gpus).toEqual([]);
  expect((await collectOn(pciProbe, {})).unreadable?.because).toBe('absent');
  const denied = await collectOn(pciProbe, { files: { '/sys/bus/pci/devices': { fails: 'denied' } } });
  expect(denied.unreadable?.because).toBe('denied');
});

test('says which device could not be read', async () => {
  const { value, partial } = await collectOn(pciProbe, {
    files: {
      ...device('0000:65:00.0', '0x10de', '0x030200'),
      '/sys/bus/pci/devices/0000:66:00.0/vendor': { fails: 'io_error' },
    },
  });
  expect(value?.gpus).toHaveLength(1);
  expect(partial).toEqual([{ path: 'gpus.0000:66:00.0', because: 'io_error' }]);
});

test('tells a function whose configuration space is gone, and one that only one driver may have', async () => {
  const at = (address: string, name: string) => `/sys/bus/pci/devices/${address}/${name}`;
  const bytes = (...values: number[]) => new TextDecoder().decode(new Uint8Array(values));
  const { value } = await collectOn(pciProbe, {
    files: {
      ...device('0000:65:00.0', '0x10de', '0x030200', 'nvidia'),
      [at('0000:65:00.0', 'config')]: bytes(0xde, 0x10, 0x30, 0x23, 0x06, 0x04, 0x10, 0x00),
      [at('0000:65:00.0', 'driver_override')]: '(null)\n',
      ...device('0000:b1:00.0', '0x10de', '0x030200', 'vfio-pci'),
      [at('0000:b1:00.0', 'config')]: bytes(...Array.from({ length: 64 }, () => 0xff)),
      [at('0000:b1:00.0', 'driver_override')]: 'vfio-pci\n',
      ...device('0000:c1:00.0', '0x10de', '0x030200'),
    },
  });
  expect(value?.gpus.map(({ configDead, driverOverride }) => [configDead, driverOverride])).toEqual([
    [false, null],
    [true, 'vfio-pci'],
    [null, null],
  ]);
  expect(isDeadConfig('')).toBeNull();
});

test('lists NVSwitches, and neither root ports nor sound', async () => {
  const { value } = await collectOn(pciProbe, {
    files: {
      ...device('0000:06:00.0', '0x10de', '0x068000', 'nvidia-nvswitch'),
      ...device('0000:07:00.0', '0x10de', '0x060400', 'pcieport'),
      ...device('0000:65:00.1', '0x10de', '0x040300'),
    },
  });
  expect(value).toMatchObject({
    gpus: [],
    nvswitches: [{ address: '0000:06:00.0', deviceId: '2330', driver: 'nvidia-nvswitch' }],
  });
});

test('reads what the command line keeps for virtual machines', async () => {
  const line = 'root=/dev/sda1 intel_iommu=on iommu=pt vfio-pci.ids=10de:2204,10DE:1aef:0000:0000,x quiet\n';
  const { value } = await collectOn(pciProbe, { files: { '/sys/bus/pci/devices/': '', '/proc/cmdline': line } });
  expect(value).toMatchObject({
    passthroughIds: ['10de:2204', '10de:1aef'],
    iommuOptions: ['intel_iommu=on', 'iommu=pt'],
  });
  expect(parsePciOptions('')).toEqual({ passthroughIds: [], iommuOptions: [] });
});
