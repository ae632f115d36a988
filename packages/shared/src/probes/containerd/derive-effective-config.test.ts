import { expect, test } from 'vitest';
import { deriveEffectiveConfig } from './derive-effective-config.ts';
import { asWritten, type ContainerdFile, parseContainerdFile } from './parse-containerd-config.ts';

function file(text: string): ContainerdFile {
  const { value, unreadable } = parseContainerdFile(text);
  if (value === null) throw new Error(JSON.stringify(unreadable));
  return value;
}
const v2 = (name: string) => `version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}.options]
BinaryName = "/usr/bin/${name}"
SystemdCgroup = true
`;
const v3 = (name: string) =>
  v2(name)
    .replace('version = 2', 'version = 3')
    .replaceAll('io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.runtime');
const namesOf = (files: ContainerdFile[], version: string | null) =>
  deriveEffectiveConfig(files, version).value?.runtimes.map(({ name }) => name) ?? null;

test('is the built-in configuration where there is no file', () => {
  expect(deriveEffectiveConfig([], '1.7.24').value).toEqual({
    schema: 2,
    imports: [],
    disabledPlugins: [],
    runtimes: [{ name: 'runc', binary: null, type: 'io.containerd.runc.v2', systemdCgroup: null }],
    defaultRuntime: 'runc',
    enableCdi: false,
    cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'],
  });
  expect(deriveEffectiveConfig([], '2.1.9').value).toMatchObject({ schema: 3, enableCdi: true });
  expect(deriveEffectiveConfig([], '1.6.20').value?.enableCdi).toBeNull();
});

test('loses the built-in runc in 1.x as soon as a file names runtimes, and keeps it in 2.x', () => {
  const files = [file(v2('nvidia'))];
  expect(namesOf(files, '1.6.20')).toEqual(['nvidia']);
  expect(namesOf(files, '1.7.24')).toEqual(['nvidia']);
  expect(namesOf(files, '2.1.9')).toEqual(['nvidia', 'runc']);
});

test('replaces a section by an import before 2.1 and merges since', () => {
  const files = [file(v2('runc')), file(v2('nvidia'))];
  expect(namesOf(files, '1.7.24')).toEqual(['nvidia']);
  expect(namesOf(files, '2.1.9')).toEqual(['nvidia', 'runc']);
});

test('takes the plugin name of the schema, and what 2.x moves over', () => {
  const both = file(`${v3('nvidia').replace('version = 3', 'version = 2')}${v2('kata').replace('version = 2', '')}`);
  expect(namesOf([both], '1.7.24')).toEqual(['kata']);
  // What already stands under the new name wins over what is moved there.
  expect(namesOf([both], '2.1.9')).toEqual(['nvidia', 'runc']);
  expect(asWritten(both).runtimes.map(({ name }) => name)).toEqual(['kata', 'nvidia']);
});

test('merges a newer drop-in into an older root in 2.1, and refuses it in 1.7 and 2.3', () => {
  const files = [file(v2('runc')), file(v3('nvidia'))];
  expect(namesOf(files, '2.1.9')).toEqual(['nvidia', 'runc']);
  expect(deriveEffectiveConfig(files, '1.7.24').unreadable).toEqual([{ path: '', because: 'schema_not_supported' }]);
  expect(deriveEffectiveConfig(files, '2.3.0').unreadable).toEqual([{ path: '', because: 'import_has_newer_schema' }]);
});

test.each([
  ['1.7.24', 3, false],
  ['2.1.9', 3, true],
  ['2.1.9', 4, false],
  ['2.3.1', 4, true],
])('containerd %s and schema %s: accepted is %s', (version, schema, accepted) => {
  const root = file(v3('nvidia').replace('version = 3', `version = ${schema}`));
  expect(deriveEffectiveConfig([root], version).value !== null).toBe(accepted);
});

test('says that the version is not known, and follows the schema', () => {
  const { value, unreadable } = deriveEffectiveConfig([file(v3('nvidia'))], null);
  expect(value?.runtimes).toHaveLength(2);
  expect(unreadable).toEqual([{ path: '', because: 'version_unknown' }]);
});
