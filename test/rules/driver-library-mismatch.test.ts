import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { library, modinfo, otherLibrary, version } from './driver-changes.ts';

const code = 'DRIVER_LIBRARY_MISMATCH';
const newer = '550.170.04';
const upgraded = [
  otherLibrary(newer),
  {
    commands: {
      [modinfo]: `${newer}\n`,
      'nvidia-smi -q -x': {
        exitCode: 18,
        stdout: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.170\n',
      },
    },
  },
] as const;

test('tells an upgrade whose module is not loaded yet, with all three versions, and proposes a reboot', async () => {
  const host = await observeChanged('x86-docker', ...upgraded);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [
        { source: 'file:/proc/driver/nvidia/version', quote: version },
        { source: `file:${library}/libnvidia-ml.so.1`, quote: newer },
        { source: 'command:modinfo -F version nvidia', quote: newer },
      ],
      remedy: { jobs: [{ kind: 'reboot_host' }], approval: 'approve' },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('does not send a host into a kernel for which no module was built', async () => {
  const host = await observeChanged('x86-docker', ...upgraded, {
    files: { '/usr/lib/modules/6.8.0-100-generic/modules.dep': '' },
  });
  expect(host.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining('6.8.0-100-generic') }]);
});

test('is silent when the module on disk differs from the library: a reboot would not help', async () => {
  const host = await observeChanged('x86-docker', otherLibrary('550.170.04'));
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toContain('DRIVER_PACKAGES_INCONSISTENT');
});

test('is silent on Tegra', async () => {
  const host = await observeChanged('thor', { commands: { [modinfo]: '595.78\n' } });
  expect(host.of(code)).toEqual([]);
});

test('cannot tell without an answer of modinfo', async () => {
  const host = await observeChanged('x86-docker', ...upgraded, { commands: { [modinfo]: 'not_recorded' } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('not_recorded');
});

test('cannot tell when the version of the loaded module could not be read', async () => {
  const denied = { files: { '/proc/driver/nvidia/version': { as: { error: 'EACCES' } } } };
  expect((await observeChanged('x86-docker', denied)).untold(code)).toContain('denied');
});
