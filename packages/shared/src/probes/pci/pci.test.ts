import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { pciProbe } from './index.ts';

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
  expect((await collectOn(pciProbe, { files: { '/sys/bus/usb/devices/': '' } })).value).toEqual({ gpus: [] });
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
