import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { deriveDevices } from './derive-devices.ts';
import { cdiProbe } from './index.ts';
import { parseCdiSpec } from './parse-cdi-spec.ts';

const spec = `---
cdiVersion: 0.7.0
kind: nvidia.com/gpu
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  hooks:
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
  - containerPath: /lib/firmware/nvidia/580.95.05/gsp_ga10x.bin
    hostPath: /lib/firmware/nvidia/580.95.05/gsp_ga10x.bin
  - containerPath: /usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.2
    hostPath: /usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.2
  - containerPath: /scratch
    type: tmpfs
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: /dev/nvidia0
- name: all
`;
const units = [
  'Result=exit-code\nId=nvidia-cdi-refresh.service\nLoadState=loaded\nActiveState=failed\n',
  'Result=success\nId=nvidia-cdi-refresh.path\nLoadState=not-found\nActiveState=inactive\n',
].join('\n');

test('reads specifications, their devices and driver, and what of them is not there', async () => {
  const { value, partial } = await collectOn(cdiProbe, {
    files: {
      '/etc/cdi/nvidia.yaml': spec,
      '/etc/cdi/old.yml': spec,
      '/dev/nvidiactl': '',
      '/dev/nvidia0': '',
      '/usr/bin/nvidia-cdi-hook': 'ELF',
      '/var/run': { link: '/run' },
    },
    commands: { [unitStatesArgv.join(' ')]: units },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    specDirs: [
      { path: '/etc/cdi', present: true, realPath: '/etc/cdi' },
      { path: '/var/run/cdi', present: false, realPath: '/run/cdi' },
    ],
    specs: [
      {
        file: { path: '/etc/cdi/nvidia.yaml', error: null },
        kind: 'nvidia.com/gpu',
        cdiVersion: '0.7.0',
        driverVersions: ['580.95.05'],
        missingPaths: [
          '/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin',
          '/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05',
          '/usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.2',
        ],
        checkedPaths: 6,
        namedPaths: 6,
      },
    ],
    devices: ['nvidia.com/gpu=0', 'nvidia.com/gpu=all'],
    ignoredFiles: ['/etc/cdi/old.yml'],
    refresh: { service: { activeState: 'failed' }, path: null },
  });
});

test('reads the folders that podman is told of, and /run/cdi where /var/run is no link', async () => {
  const { value } = await collectOn(cdiProbe, {
    files: {
      '/usr/bin/podman': 'ELF',
      '/etc/containers/containers.conf': '[engine]\ncdi_spec_dirs = ["/opt/cdi/"]\n',
      '/opt/cdi/nvidia.json': '{"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": "all"}]}',
      '/run/cdi/': '',
    },
  });
  expect(value?.readers).toEqual([{ engine: 'podman', dirs: ['/opt/cdi/'], program: '/usr/bin/podman' }]);
  expect(value?.specDirs.map(({ path }) => path)).toEqual(['/etc/cdi', '/var/run/cdi', '/run/cdi', '/opt/cdi']);
  expect(value?.devices).toEqual(['nvidia.com/gpu=all']);
});

test('a device that is named twice in one folder vanishes, the later folder wins', () => {
  const of = (dir: string, name: string, ...devices: string[]) => ({
    dir,
    devices,
    file: { path: `${dir}/${name}`, present: true, sha256: null, mode: null, mtimeMs: null, error: null },
  });
  expect(deriveDevices([of('/a', 'x', 'g=0', 'g=1'), of('/a', 'y', 'g=0'), of('/b', 'z', 'g=1')])).toEqual({
    conflicts: [{ device: 'g=0', files: ['/a/x', '/a/y'] }],
    devices: ['g=1'],
  });
  expect(deriveDevices([of('/a', 'x', 'g=0'), of('/a', 'y', 'g=0'), of('/b', 'z', 'g=0')]).devices).toEqual(['g=0']);
});

test('keeps a broken specification apart from a missing one', async () => {
  const { value } = await collectOn(cdiProbe, {
    files: { '/etc/cdi/a.yaml': 'kind: [', '/etc/cdi/b.json': '{"kind": 1}', '/etc/cdi/c.yaml': { fails: 'denied' } },
  });
  expect(value?.specs.map(({ file }) => file.error)).toEqual([
    expect.stringMatching(/^not_yaml: /),
    'kind: not_stated',
    expect.stringMatching(/^denied/),
  ]);
  expect(value?.devices).toEqual([]);
});

test.each([
  ['a list', '- a\n'],
  ['aliases without end', `a: &a [x]\n${Array.from({ length: 30 }, (_, at) => `b${at}: &b${at} [*a, *a]`).join('\n')}`],
  ['doubled text', spec + spec],
  ['NULs', '\0\0kind: x/y'],
  ['nothing', ''],
])('says why it cannot read %s, and never throws', (_, text) => {
  const { value, unreadable } = parseCdiSpec(text);
  expect(value === null || unreadable.length > 0 || value.devices.length >= 0).toBe(true);
});

test('reads CRLF and a byte order mark', () => {
  expect(parseCdiSpec(`\uFEFF${spec.replaceAll('\n', '\r\n')}`).value?.devices).toEqual([
    'nvidia.com/gpu=0',
    'nvidia.com/gpu=all',
  ]);
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.nat(spec.length), fc.string({ unit: 'binary' }), fc.anything(), (cut, insert, value) => {
      parseCdiSpec(spec.slice(0, cut) + insert);
      parseCdiSpec(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item)) ?? '');
    }),
  );
});
