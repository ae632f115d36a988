import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { crioProbe } from './index.ts';
import { mergeCrioConfigs, parseCrioConfig, parseCrioVersion } from './parse-crio-config.ts';

const handler = (name: string, path: string) =>
  `[crio.runtime.runtimes.${name}]\nruntime_path = "${path}"\nruntime_type = "oci"\n`;
const conf = `[crio.runtime]\ndefault_runtime = "crun"\ncgroup_manager = "systemd"\n${handler('crun', '/usr/bin/crun')}`;
const nvidia = handler('nvidia', '/usr/bin/nvidia-container-runtime');
const unit =
  'Id=crio.service\nLoadState=loaded\nActiveState=active\nSubState=running\nActiveEnterTimestamp=@1700000000\n';

test('merges crio.conf and its drop-ins by name, and tells the files that CRI-O never reads', async () => {
  const { value, partial } = await collectOn(crioProbe, {
    files: {
      '/usr/bin/crio': 'ELF',
      '/etc/crio/crio.conf': conf,
      '/etc/crio/crio.conf.d/10-crun.conf': handler('crun', '/opt/bin/crun'),
      '/etc/crio/crio.conf.d/99-nvidia.toml': `[crio.runtime]\ndefault_runtime = "nvidia"\n${nvidia}`,
      '/etc/crio/conf.d/99-nvidia.toml': nvidia,
    },
    commands: {
      'crio --version': 'crio version 1.30.4\nGitCommit: abc\n',
      'crio status config': conf,
      [unitStatesArgv.join(' ')]: unit,
    },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    installed: true,
    version: '1.30.4',
    unit: { activeState: 'active' },
    defaultRuntime: 'nvidia',
    cgroupManager: 'systemd',
    unreadDropIns: ['/etc/crio/conf.d/99-nvidia.toml'],
    unreadRuntimes: ['nvidia'],
    live: { runtimes: [{ name: 'crun' }], defaultRuntime: 'crun' },
  });
  expect(value?.files.map(({ path }) => path)).toEqual([
    '/etc/crio/crio.conf',
    '/etc/crio/crio.conf.d/10-crun.conf',
    '/etc/crio/crio.conf.d/99-nvidia.toml',
  ]);
  expect(value?.runtimes.map(({ name, binary }) => [name, binary])).toEqual([
    ['crun', '/opt/bin/crun'],
    ['nvidia', '/usr/bin/nvidia-container-runtime'],
    ['runc', null],
  ]);
});

test('asks older releases by their second program, and says why there is no answer', async () => {
  const old = await collectOn(crioProbe, {
    files: { '/usr/bin/crio': 'ELF' },
    commands: {
      'crio --version': 'crio version 1.26.1\n',
      'crio status config': { exitCode: 1, stderr: 'No help topic for "status"\n' },
      'crio-status config': conf,
    },
  });
  expect(old.value?.live?.runtimes).toHaveLength(1);
  const down = await collectOn(crioProbe, {
    files: { '/usr/bin/crio': 'ELF' },
    commands: { 'crio --version': 'x', 'crio status config': { exitCode: 1, stderr: 'connection refused\n' } },
  });
  expect(down.value?.live).toBeNull();
  expect(down.partial).toContainEqual({ path: 'live', because: 'not_answering: connection refused' });
  expect(down.partial).toContainEqual({ path: 'version', because: 'unexpected_text' });
});

test('keeps the error of a file that is no TOML', async () => {
  const { value } = await collectOn(crioProbe, {
    files: { '/usr/bin/crio': 'ELF', '/etc/crio/crio.conf': '[crio' },
  });
  expect(value?.files[0]?.error).toMatch(/^not_toml/);
});

test('is not there without its program', async () => {
  expect((await collectOn(crioProbe, { files: { '/etc/crio/crio.conf': conf } })).value?.installed).toBe(false);
});

test.each([
  ['1.30.4', 'runc'],
  ['1.31.0', 'crun'],
  [null, 'crun'],
])('CRI-O %s has %s built in', (version, name) => {
  expect(mergeCrioConfigs([], version)).toMatchObject({ defaultRuntime: name, runtimes: [{ name }] });
});

test('reads versions and never throws', () => {
  expect(parseCrioVersion('crio version 1.31.2\nVersion:       1.31.2\n')).toBe('1.31.2');
  expect(parseCrioVersion('crio version\nVersion:  1.33.0\n')).toBe('1.33.0');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseCrioConfig(conf + text)));
});
