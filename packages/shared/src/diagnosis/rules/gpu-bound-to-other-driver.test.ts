import { expect, test } from 'vitest';
import { aHost } from '../testing/a-host.ts';
import { findingsOf } from '../testing/findings-of.ts';

const code = 'GPU_BOUND_TO_OTHER_DRIVER';
const boundTo = (driver: string | null) =>
  aHost('x86_docker', { pci: (pci) => ({ ...pci, gpus: pci.gpus.map((gpu) => ({ ...gpu, driver })) }) });

test.each(['nouveau', 'nova_core', 'simple-framebuffer'])(
  'tells that %s holds the GPU, whatever its name',
  (driver) => {
    const [finding] = findingsOf(boundTo(driver), code);
    expect(finding).toMatchObject({
      subject: 'file:/sys/bus/pci/devices/0000:65:00.0/driver',
      severity: 'blocker',
      remedy: null,
      evidence: [{ source: 'file:/sys/bus/pci/devices/0000:65:00.0/driver', quote: `driver -> ${driver}` }],
    });
  },
);

test('only informs of a GPU held for passthrough, and never proposes to unbind it', () => {
  const [finding] = findingsOf(boundTo('vfio-pci'), code);
  expect(finding).toMatchObject({ severity: 'info', remedy: null });
});

test('is silent when nvidia holds the GPU, or nothing does', () => {
  expect(findingsOf(boundTo('nvidia'), code)).toEqual([]);
  expect(findingsOf(boundTo(null), code)).toEqual([]);
});

test('is the consequence of a driver that is not installed', () => {
  const facts = aHost('x86_docker', {
    pci: (pci) => ({ ...pci, gpus: pci.gpus.map((gpu) => ({ ...gpu, driver: 'nouveau' })) }),
    driver: (driver) => ({
      ...driver,
      modules: ['nouveau'],
      loadedVersion: null,
      onDiskVersion: null,
      libraryVersion: null,
      libraryPath: null,
    }),
  });
  expect(findingsOf(facts, code)[0]?.consequenceOf).toEqual({ code: 'DRIVER_NOT_INSTALLED', subject: null });
});
