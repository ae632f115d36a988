import { expect, test } from 'vitest';
import { aHost, withPartial } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'DRIVER_PACKAGES_INCONSISTENT';

test('tells a module and a library on disk that differ in the last digit', () => {
  const facts = aHost('x86_docker', {
    driver: (driver) => ({
      ...driver,
      loadedVersion: '570.124.06',
      onDiskVersion: '570.124.06',
      libraryVersion: '570.124.04',
    }),
  });
  const [finding] = findingsOf(facts, code);
  expect(finding).toMatchObject({
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
  });
  expect(findingsOf(facts, 'DRIVER_LIBRARY_MISMATCH')).toEqual([]);
});

test('is silent when only a reload is pending, on Tegra, and about compatibility libraries', () => {
  const pending = aHost('x86_docker', { driver: (driver) => ({ ...driver, loadedVersion: '550.90.07' }) });
  expect(findingsOf(pending, code)).toEqual([]);
  expect(findingsOf(aHost('orin', { driver: (driver) => ({ ...driver, libraryVersion: '540.3.0' }) }), code)).toEqual(
    [],
  );
  const compat = aHost('x86_docker', {
    driver: (driver) => ({
      ...driver,
      libraryVersion: '999.1',
      libraryPath: '/usr/local/cuda/compat/libnvidia-ml.so.1',
    }),
  });
  expect(findingsOf(compat, code)).toEqual([]);
});

test('cannot tell when one side could not be read', () => {
  const facts = aHost('x86_docker', { driver: (driver) => ({ ...driver, libraryVersion: null }) });
  expect(cannotTellOf(withPartial(facts, 'driver', 'libraryVersion', 'io_error'), code)).toContain('io_error');
  expect(cannotTellOf(facts, code)).toBeNull();
});
