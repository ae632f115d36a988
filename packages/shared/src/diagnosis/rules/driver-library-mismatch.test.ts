import { expect, test } from 'vitest';
import { aHost, withPartial } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'DRIVER_LIBRARY_MISMATCH';
const upgraded = (change: { onDiskVersion?: string | null; libraryPath?: string } = {}) =>
  aHost('x86_docker', {
    driver: (driver) => ({
      ...driver,
      loadedVersion: '550.90.07',
      libraryVersion: '550.107.02',
      onDiskVersion: '550.107.02',
      ...change,
    }),
  });

test('tells a driver upgraded on disk while the old module runs, and proposes a reboot that a person approves', () => {
  const [finding] = findingsOf(upgraded(), code);
  expect(finding?.remedy).toEqual({ jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' });
  expect(finding?.evidence).toEqual([
    { source: 'file:/proc/driver/nvidia/version', quote: '550.90.07' },
    { source: 'file:/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1', quote: '550.107.02' },
    { source: 'command:modinfo -F version nvidia', quote: '550.107.02' },
  ]);
});

test('leaves a module on disk of yet another version to the rule about packages: a reboot would not help', () => {
  const facts = upgraded({ onDiskVersion: '550.90.07' });
  expect(findingsOf(facts, code)).toEqual([]);
  expect(findingsOf(facts, 'DRIVER_PACKAGES_INCONSISTENT')).toHaveLength(1);
});

test('is silent about CUDA compatibility libraries and on Tegra', () => {
  expect(findingsOf(upgraded({ libraryPath: '/usr/local/cuda-12.4/compat/libnvidia-ml.so.1' }), code)).toEqual([]);
  expect(findingsOf(aHost('thor', { driver: (driver) => ({ ...driver, loadedVersion: '580.00' }) }), code)).toEqual([]);
});

test('cannot tell whether a reboot helps when the module on disk could not be read', () => {
  const facts = withPartial(upgraded({ onDiskVersion: null }), 'driver', 'onDiskVersion', 'timed_out');
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toContain('timed_out');
});
