import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveEffectiveConfig } from './derive-effective-config.ts';
import { asWritten, parseContainerdFile } from './parse-containerd-config.ts';

const v2 = `version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
disabled_plugins = ["cri"]
[plugins."io.containerd.grpc.v1.cri"]
  enable_cdi = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "nvidia"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
        BinaryName = "/usr/bin/nvidia-container-runtime"
        SystemdCgroup = true
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
`;

test('reads schema 2', () => {
  const { value, unreadable } = parseContainerdFile(v2.replaceAll('\n', '\r\n'));
  expect(unreadable).toEqual([]);
  expect(value && asWritten(value)).toEqual({
    schema: 2,
    imports: ['/etc/containerd/conf.d/*.toml'],
    disabledPlugins: ['cri'],
    runtimes: [
      {
        name: 'nvidia',
        binary: '/usr/bin/nvidia-container-runtime',
        type: 'io.containerd.runc.v2',
        systemdCgroup: true,
      },
      { name: 'runc', binary: null, type: null, systemdCgroup: null },
    ],
    defaultRuntime: 'nvidia',
    enableCdi: true,
    cdiSpecDirs: null,
  });
});

test('takes a file without a version for schema 1, with the old place of the binary', () => {
  const { value } = parseContainerdFile('[plugins.cri.containerd.runtimes.nvidia.options]\nRuntime = "/usr/bin/n"\n');
  expect(value && asWritten(value)).toMatchObject({ schema: 1, runtimes: [{ name: 'nvidia', binary: '/usr/bin/n' }] });
});

test.each([
  ['version = 2.0', 'version_not_an_integer'],
  ['version = "2"', 'version_not_an_integer'],
  ['plugins = "x"', 'plugins_not_a_table'],
  ['imports = "/a.toml"', 'imports_not_a_list_of_texts'],
  ['disabled_plugins = [1]', 'disabled_plugins_not_a_list_of_texts'],
  ['[a]\n[a]', 'not_toml'],
  ['[plugins."io.cont', 'not_toml'],
  ['{{ template "base" . }}\nversion = 2', 'template'],
])('refuses %j as containerd does', (text, because) => {
  expect(parseContainerdFile(text).unreadable[0]?.because).toMatch(new RegExp(`^${because}`));
});

test('is not led astray by names that every object has', () => {
  const { value } = parseContainerdFile(
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.__proto__]\n[plugins.constructor]\n',
  );
  expect(() => value && asWritten(value)).not.toThrow();
  expect(value && asWritten(value).defaultRuntime).toBeNull();
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(v2.length), fc.string({ unit: 'binary' }), (cut, insert) => {
      const { value } = parseContainerdFile(v2.slice(0, cut) + insert + v2.slice(cut));
      if (value !== null) deriveEffectiveConfig([value], '2.1.0');
    }),
  );
});
