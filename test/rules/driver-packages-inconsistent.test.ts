import { expect, test } from 'vitest';
import { dpkgQueryArgv } from '../../packages/shared/src/probes/packages/parse-dpkg.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { modinfo, otherLibrary, version } from './driver-changes.ts';

const code = 'DRIVER_PACKAGES_INCONSISTENT';
const packages = (change: (listed: string) => string): Changes => ({
  argv: [{ argv: dpkgQueryArgv, answer: change }],
});
const runfile: Changes = { files: { '/usr/bin/nvidia-uninstall': { as: { mode: '0755' } } } };

test('tells a module and a library on disk that differ in the last digit', async () => {
  const host = await observeChanged('x86-docker', otherLibrary('550.163.04'));
  expect(host.of(code)).toMatchObject([
    {
      severity: 'blocker',
      evidence: [{ quote: version }, { quote: '550.163.04' }],
      remedy: { jobs: [{ kind: 'repair_packages' }], approval: 'approve' },
    },
  ]);
  expect(host.of('DRIVER_LIBRARY_MISMATCH')).toEqual([]);
});

test('tells a library of another branch that came with an unrelated tool', async () => {
  const host = await observeChanged('x86-docker', otherLibrary('418.226.00'));
  expect(host.of(code)[0]?.summary).toContain('418.226.00');
});

test('tells packages of the driver that are half-configured', async () => {
  const half = 'nvidia-dkms-550\t550.163.01-0ubuntu1\tamd64\tinstall ok half-configured\n';
  const host = await observeChanged(
    'x86-docker',
    packages((listed) => listed + half),
  );
  expect(host.of(code)).toMatchObject([
    { summary: expect.stringContaining('nvidia-dkms-550'), remedy: { jobs: [{ kind: 'repair_packages' }] } },
  ]);
});

test('leaves two ways of installing to a person', async () => {
  const driver = 'nvidia-driver-550\t550.163.01-0ubuntu1\tamd64\tinstall ok installed\n';
  const host = await observeChanged(
    'x86-docker',
    runfile,
    packages((listed) => listed + driver),
  );
  expect(host.of(code)).toMatchObject([{ remedy: null, person: expect.stringContaining('nvidia-uninstall') }]);
});

test("is silent when only a reload is pending, with NVIDIA's installer alone, and on Tegra", async () => {
  const pending = await observeChanged('x86-docker', otherLibrary('550.170.04'), {
    commands: { [modinfo]: '550.170.04\n' },
  });
  expect(pending.of(code)).toEqual([]);
  const others = (listed: string) =>
    listed
      .split('\n')
      .filter((line) => !/^(lib)?(nvidia|cuda)/.test(line) || line.includes('container'))
      .join('\n');
  expect((await observeChanged('x86-docker', runfile, packages(others))).of(code)).toEqual([]);
  expect((await observeChanged('orin', { commands: { [modinfo]: '540.3.0\n' } })).of(code)).toEqual([]);
});

test('CUDA’s compatibility libraries are no second driver', async () => {
  const compat = { files: { '/usr/local/cuda-13.0/compat/libcuda.so.580.95.05': '\u007fELF' } };
  expect((await observeChanged('x86-docker', compat)).of(code)).toEqual([]);
});

test('cannot tell when one side could not be read', async () => {
  const host = await observeChanged('x86-docker', otherLibrary('550.170.04'), {
    commands: { [modinfo]: 'not_recorded' },
  });
  expect(host.untold(code)).toContain('not_recorded');
});
