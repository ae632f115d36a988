import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { toolkitProbe } from './index.ts';
import { parseToolkitConfig, withToolkitDefaults } from './parse-toolkit-config.ts';
import { parseUidMap } from './parse-uid-map.ts';

const config = `disable-require = true
#accept-nvidia-visible-devices-as-volume-mounts = false
[nvidia-container-cli]
no-cgroups = true
ldconfig = "@/sbin/ldconfig.real"
[nvidia-container-runtime]
mode = "cdi"
[nvidia-container-runtime.modes.cdi]
spec-dirs = ["/etc/cdi"]
`;
const version = 'NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d\n';

test('finds the binaries, the version and the settings', async () => {
  const { value, partial } = await collectOn(toolkitProbe, {
    files: {
      '/usr/bin/nvidia-container-runtime': { text: 'ELF', mtimeMs: 5_000 },
      '/usr/bin/nvidia-ctk': 'ELF',
      '/etc/nvidia-container-runtime/config.toml': config,
    },
    commands: { 'nvidia-ctk --version': version },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    installed: true,
    version: '1.17.8',
    binaries: [
      { name: 'nvidia-container-runtime', path: '/usr/bin/nvidia-container-runtime', mtimeMs: 5_000 },
      { name: 'nvidia-ctk', path: '/usr/bin/nvidia-ctk' },
    ],
    config: {
      mode: 'cdi',
      runtimes: ['runc', 'crun'],
      noCgroups: true,
      disableRequire: true,
      ldconfig: '@/sbin/ldconfig.real',
      cdiSpecDirs: ['/etc/cdi'],
      acceptEnvvarWhenUnprivileged: true,
    },
  });
});

test('is not installed on a host without its binaries, and asks nothing there', async () => {
  const { value, reader } = await collectOn(toolkitProbe, {});
  expect(value).toMatchObject({ installed: false, version: null, configFile: { present: false } });
  expect(reader.reads.commands).toEqual([]);
});

test('keeps the error of a broken file and goes on with the defaults', async () => {
  const { value, partial } = await collectOn(toolkitProbe, {
    files: { '/usr/bin/nvidia-container-cli': 'ELF', '/etc/nvidia-container-runtime/config.toml': 'a = = b' },
  });
  expect(value?.configFile.error).toMatch(/^not_toml: .*line 1/s);
  expect(value?.config).toEqual(withToolkitDefaults(null));
  expect(partial?.map(({ path }) => path)).toEqual(['binaries.version', 'config']);
});

test('reads the operator’s copy with its own configuration, and sees an empty driver root', async () => {
  const folder = '/usr/local/nvidia/toolkit';
  const { value } = await collectOn(toolkitProbe, {
    files: {
      [`${folder}/nvidia-container-runtime`]: 'ELF',
      [`${folder}/.config/nvidia-container-runtime/config.toml`]:
        '[nvidia-container-cli]\nroot = "/run/nvidia/driver"\n',
      '/run/nvidia/driver/': '',
      '/var/lib/dpkg/info/nvidia-container-toolkit.list': { text: '', mtimeMs: 7_000 },
      '/proc/self/uid_map': '         0     100000      65536\n',
    },
  });
  expect(value).toMatchObject({
    version: null,
    installedAtMs: 7_000,
    inUserNamespace: true,
    driverRootState: null,
    otherConfigs: [{ scope: 'operator', uid: null, driverRootState: 'empty', config: { mode: 'auto' } }],
  });
});

test('tells a real root from the root of a user namespace', () => {
  expect(parseUidMap('         0          0 4294967295\n')).toBe(false);
  expect(parseUidMap('0 0 4294967295\n1 2 3\n')).toBe(true);
  expect(parseUidMap('')).toBeNull();
});

test('tells what a file states from what it leaves to the defaults, and names wrong types', () => {
  const { value, unreadable } = parseToolkitConfig(`[nvidia-container-runtime]
mode = "sideways"
runtimes = "runc"
[[nvidia-container-runtime.modes.cdi]]
spec-dirs = ["/etc/cdi"]
`);
  expect(value).toMatchObject({ mode: 'sideways', runtimes: null, noCgroups: null, cdiSpecDirs: null });
  expect(unreadable).toEqual([
    { path: 'mode', because: 'unknown_mode' },
    { path: 'runtimes', because: 'wrong_type' },
    { path: 'cdiSpecDirs', because: 'not_a_table' },
  ]);
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(config.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      withToolkitDefaults(parseToolkitConfig(config.slice(0, cut) + insert + config.slice(cut)).value);
    }),
  );
});
