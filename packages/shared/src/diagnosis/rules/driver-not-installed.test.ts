import { expect, test } from 'vitest';
import { aHost, type Breaks, withPartial } from '../testing/a-host.ts';
import { noDriver as noNvidiaDriver } from '../testing/driver-parts.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'DRIVER_NOT_INSTALLED';
const noDriver: Breaks = {
  driver: () => noNvidiaDriver,
  pci: (pci) => ({ ...pci, gpus: pci.gpus.map((gpu) => ({ ...gpu, driver: null })) }),
};

test('tells a GPU without any driver, and leaves the choice of branch to a person', () => {
  const [finding] = findingsOf(aHost('x86_docker', noDriver), code);
  expect(finding).toMatchObject({ severity: 'blocker', layer: 'driver', remedy: null });
  expect(finding?.person).toContain('branch');
  expect(finding?.evidence[0]).toEqual({
    source: 'file:/sys/bus/pci/devices/0000:65:00.0/vendor',
    quote: '0x10de (device 0x27b8, class 0x030200)',
  });
});

test('is silent when the library exists: the runtime looks in another root', () => {
  const facts = aHost('x86_docker', {
    ...noDriver,
    driver: (driver) => ({ ...driver, modules: [], loadedVersion: null, onDiskVersion: null }),
  });
  expect(findingsOf(facts, code)).toEqual([]);
});

test('is silent on Tegra, without a GPU, and where every GPU is held for passthrough', () => {
  expect(findingsOf(aHost('thor', { driver: noDriver.driver }), code)).toEqual([]);
  expect(findingsOf(aHost('no_gpu'), code)).toEqual([]);
  const passthrough = aHost('x86_docker', {
    ...noDriver,
    pci: (pci) => ({ ...pci, gpus: pci.gpus.map((gpu) => ({ ...gpu, driver: 'vfio-pci' })) }),
  });
  expect(findingsOf(passthrough, code)).toEqual([]);
});

test('cannot tell when the module on disk could not be asked for', () => {
  const facts = withPartial(aHost('x86_docker', noDriver), 'driver', 'onDiskVersion', 'absent');
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toBe('driver.onDiskVersion could not be read: absent');
});
