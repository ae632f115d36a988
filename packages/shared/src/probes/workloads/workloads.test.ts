import { describe, expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import type { DockerContainer } from './fact.ts';
import { workloadsProbe } from './index.ts';
import { parseDeviceCheckpoint } from './parse-device-checkpoint.ts';
import { parseDockerContainer } from './parse-docker-container.ts';
import { classifyFailure, parseEngineJournal, parseLastReload } from './parse-engine-journal.ts';
import { parseSandboxes } from './parse-sandboxes.ts';

const id = 'a1b2c3d4e5f6'.padEnd(64, '0');
const config = (change: object = {}) =>
  JSON.stringify({
    ID: id,
    Name: '/train',
    State: { Running: true, ExitCode: 0, Error: '', StartedAt: '2026-11-24T08:00:00.5Z' },
    Config: { Image: 'example.com/cuda:12.4', User: '1000', Env: ['TOKEN=secret', 'NVIDIA_REQUIRE_CUDA=cuda>=12.4'] },
    ...change,
  });
const gpusAll = { Driver: '', Count: -1, DeviceIDs: null, Capabilities: [['gpu']], Options: {} };
const hostConfig = (change: object = {}) =>
  JSON.stringify({ Runtime: 'runc', Privileged: false, DeviceRequests: null, ...change });

describe('a container of docker', () => {
  test('is told with how it asks for GPUs, and with nothing else of its environment', () => {
    const read = parseDockerContainer(config(), hostConfig({ DeviceRequests: [gpusAll] }));
    expect(read).toEqual({
      id,
      name: 'train',
      image: 'example.com/cuda:12.4',
      runtime: 'runc',
      running: true,
      exitCode: 0,
      error: null,
      startedAtMs: Date.UTC(2026, 10, 24, 8, 0, 0, 500),
      privileged: false,
      user: '1000',
      gpu: { drivers: [''], cdiDevices: [], visibleDevices: null, requireCuda: 'cuda>=12.4', disableRequire: false },
    });
    expect(JSON.stringify(read)).not.toContain('secret');
  });

  const env = (...entries: string[]) => config({ Config: { Image: 'a', Env: entries } });
  test.each<[string, string, string, Partial<DockerContainer['gpu']>]>([
    [
      'by CDI name',
      config(),
      hostConfig({ DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0'] }] }),
      { drivers: ['cdi'], cdiDevices: ['nvidia.com/gpu=0'] },
    ],
    ['by the runtime', config(), hostConfig({ Runtime: 'nvidia' }), { drivers: [] }],
    [
      'by the environment',
      env('NVIDIA_VISIBLE_DEVICES=none', 'NVIDIA_VISIBLE_DEVICES=all'),
      hostConfig(),
      { visibleDevices: 'all' },
    ],
    [
      'and wants no check',
      env('NVIDIA_VISIBLE_DEVICES=0', 'NVIDIA_DISABLE_REQUIRE=1'),
      hostConfig(),
      { disableRequire: true },
    ],
  ])('asks %s', (_, own, host, gpu) => {
    expect(parseDockerContainer(own, host)?.gpu).toMatchObject(gpu);
  });

  test('that has nothing to do with GPUs is left out, one that failed on a GPU is not', () => {
    expect(parseDockerContainer(config(), hostConfig())).toBeNull();
    expect(parseDockerContainer(env('NVIDIA_VISIBLE_DEVICES=void'), hostConfig())).toBeNull();
    const failed = { State: { Error: 'could not select device driver "" with capabilities: [[gpu]]' } };
    expect(parseDockerContainer(config(failed), null)?.error).toContain('could not select');
  });

  test.each(['', '{', '[]', 'null', '{"ID": 7}'])('is not made of %j', (text) => {
    expect(parseDockerContainer(text, null)).toBeUndefined();
  });
});

test.each([
  [
    'nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver',
    'requirement',
  ],
  [
    'nvidia-container-cli: mount error: file creation failed: /x/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists',
    'file_exists',
  ],
  ['nvidia-container-cli: ldcache error: process /sbin/ldconfig terminated with signal 9', 'ldconfig'],
  ['setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all', 'cdi_unresolvable'],
  ['could not select device driver "cdi" with capabilities: []', 'cdi_unresolvable'],
  ['could not select device driver "" with capabilities: [[gpu]]', 'no_device_driver'],
  ['could not select device driver "nvidia" with capabilities: [[gpu utility]]', 'no_device_driver'],
  ['failed to get sandbox runtime: no runtime for "nvidia" is configured', 'no_handler'],
  ['unknown or invalid runtime name: nvidia', 'no_handler'],
  [
    'invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported',
    'csv_mode_hook',
  ],
  ['nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1', 'driver_library'],
  ['bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted', 'device_filter'],
  ["can't initialize iptables table `raw': Table does not exist", 'raw_table'],
  ['UnexpectedAdmissionError: maximum request size for shared resources is 1; found 2', 'admission'],
  ['error while mounting: /etc/hosts: file exists', null],
  ['nvidia-smi: exit status 9', null],
])('%s is about %s', (text, kind) => expect(classifyFailure(text)).toBe(kind));

test('equal failures of a journal are one, whatever their ids, and the newest come first', () => {
  const line = (at: number, container: string, what: string) =>
    `${at}.500000 host-1 dockerd[812]: level=error msg="${what}" container=${container.padEnd(64, '0')}`;
  const mount = 'libcuda.so.1: file exists';
  const text = [
    line(10, 'aa11', mount),
    line(20, 'bb22', 'unresolvable CDI devices'),
    line(30, 'cc33', mount),
    'noise',
  ].join('\n');
  expect(parseEngineJournal(text)).toMatchObject([
    { kind: 'file_exists', count: 2, lastAtMs: 30_500 },
    { kind: 'cdi_unresolvable', count: 1, lastAtMs: 20_500 },
  ]);
});

test('the last time that systemd loaded its units anew', () => {
  const text =
    '100.000001 host-1 systemd[1]: Reloading.\n200.25 host-1 systemd[1]: Reloading requested from client PID 77...\n';
  expect(parseLastReload(text)).toBe(200_250);
  expect(parseLastReload('300.0 host-1 other[7]: Reloading\n')).toBeNull();
});

const checkpoint = (ids: unknown) =>
  JSON.stringify({
    Data: {
      PodDeviceEntries: [
        { PodUID: 'uid-1', ContainerName: 'main', ResourceName: 'nvidia.com/gpu', DeviceIDs: ids, AllocResp: '' },
        { PodUID: 'uid-2', ContainerName: 'main', ResourceName: 'example.com/nic', DeviceIDs: ids, AllocResp: '' },
      ],
      RegisteredDevices: { 'nvidia.com/gpu': ['GPU-1'] },
    },
    Checksum: 1,
  });

test('what the kubelet gave out is read in both of its forms, of NVIDIA’s resources only', () => {
  const entry = { podUid: 'uid-1', container: 'main', resource: 'nvidia.com/gpu', devices: ['GPU-1'] };
  expect(parseDeviceCheckpoint(checkpoint({ '-1': ['GPU-1'] }))).toEqual([entry]);
  expect(parseDeviceCheckpoint(checkpoint(['GPU-1']))).toEqual([entry]);
  expect(parseDeviceCheckpoint('{"Data": {"PodDeviceEntries": null}}')).toEqual([]);
  expect(parseDeviceCheckpoint('{}')).toBeNull();
});

test('of several sandboxes of a pod the ready one counts', () => {
  const sandbox = (state: string, runtimeHandler: string) => ({
    metadata: { uid: 'u', name: 'p', namespace: 'n' },
    state,
    runtimeHandler,
  });
  const read = parseSandboxes(
    JSON.stringify({ items: [sandbox('SANDBOX_NOTREADY', ''), sandbox('SANDBOX_READY', 'nvidia')] }),
  );
  expect(read?.get('u')).toMatchObject({ handler: 'nvidia', ready: true });
  expect(parseSandboxes('FATA[0000] no')).toBeNull();
});

describe('the probe', () => {
  test('says what it could not read, and what is not there is nothing', async () => {
    const { value, partial } = await collectOn(workloadsProbe, {});
    expect(value).toEqual({ docker: null, pods: null, failures: null, lastDaemonReloadAtMs: null });
    expect(partial).toEqual([
      { path: 'failures', because: 'absent' },
      { path: 'lastDaemonReloadAtMs', because: 'absent' },
    ]);
  });

  test('a container that goes away while it is looked at is no trouble, one that cannot be read is told', async () => {
    const { value, partial } = await collectOn(workloadsProbe, {
      files: {
        '/var/lib/docker/containers/gone/hosts': '',
        '/var/lib/docker/containers/denied/config.v2.json': { fails: 'denied' },
        [`/var/lib/docker/containers/${id}/config.v2.json`]: config(),
        [`/var/lib/docker/containers/${id}/hostconfig.json`]: hostConfig({ DeviceRequests: [gpusAll] }),
      },
    });
    expect(value?.docker?.map(({ name }) => name)).toEqual(['train']);
    expect(partial).toContainEqual({ path: 'docker.denied', because: 'denied' });
  });
});
