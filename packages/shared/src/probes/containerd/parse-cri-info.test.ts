import { expect, test } from 'vitest';
import { parseContainerdVersion, parseCriInfo, parseCtrPlugins } from './parse-cri-info.ts';

test('reads the runtimes of a live CRI plugin', () => {
  const text = JSON.stringify({
    status: { conditions: [{ type: 'RuntimeReady', status: true }] },
    config: {
      enableCDI: true,
      cdiSpecDirs: ['/etc/cdi'],
      containerd: {
        defaultRuntimeName: 'runc',
        runtimes: {
          runc: { runtimeType: 'io.containerd.runc.v2', options: { BinaryName: '', SystemdCgroup: false } },
          nvidia: {
            runtimeType: 'io.containerd.runc.v2',
            options: { BinaryName: '/usr/bin/nvidia-container-runtime' },
          },
        },
      },
    },
  });
  expect(parseCriInfo(text).value).toEqual({
    runtimes: [
      {
        name: 'nvidia',
        binary: '/usr/bin/nvidia-container-runtime',
        type: 'io.containerd.runc.v2',
        systemdCgroup: null,
      },
      { name: 'runc', binary: null, type: 'io.containerd.runc.v2', systemdCgroup: false },
    ],
    defaultRuntime: 'runc',
    enableCdi: true,
    cdiSpecDirs: ['/etc/cdi'],
  });
});

test('takes the names of the handlers where there is no more, and says what is missing', () => {
  const { value, unreadable } = parseCriInfo(
    '{"runtimeHandlers": [{"name": "runc"}, {"name": ""}, {"name": "nvidia"}]}',
  );
  expect(value?.runtimes?.map(({ name }) => name)).toEqual(['nvidia', 'runc']);
  expect(unreadable).toEqual([{ path: 'defaultRuntime', because: 'not_told' }]);
  expect(parseCriInfo('{}')).toMatchObject({ value: { runtimes: null }, unreadable: [{ path: 'runtimes' }] });
  expect(parseCriInfo('E1130 connection refused').value).toBeNull();
});

test.each([
  ['TYPE ID PLATFORMS STATUS\nio.containerd.grpc.v1 cri linux/amd64 ok\n', true],
  ['io.containerd.grpc.v1 cri linux/amd64 error\n', false],
  [
    'io.containerd.cri.v1 images - ok\nio.containerd.cri.v1 runtime linux/amd64 error\nio.containerd.grpc.v1 cri - error\n',
    false,
  ],
  ['io.containerd.grpc.v1 containers - ok\n', false],
  ['ctr: failed to dial', null],
])('tells from %j whether the CRI plugin loaded', (text, ready) => {
  expect(parseCtrPlugins(text)).toBe(ready);
});

test.each([
  ['containerd github.com/containerd/containerd/v2 v2.1.9 abcdef', '2.1.9'],
  ['containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u1', '1.6.20~ds1'],
  ['containerd containerd.io 1.7.24 88bf19b2105c8b17560993bee28a01ddc2f97182\n', '1.7.24'],
  ['containerd', null],
])('reads the version of %j', (text, version) => {
  expect(parseContainerdVersion(text)).toBe(version);
});
