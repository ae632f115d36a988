import { describe, expect, test } from 'vitest';
import type { Facts } from '../facts.ts';
import { collectOn } from '../testing/fake-reader.ts';
import type { DockerContainer } from './fact.ts';
import { failuresArgv, workloadsProbe } from './index.ts';
import { parseDeviceCheckpoint } from './parse-device-checkpoint.ts';
import { parseDockerContainer } from './parse-docker-container.ts';
import { classifyFailure, parseEngineJournal, parseLastReload } from './parse-engine-journal.ts';
import { parseProcessStatus } from './parse-process-status.ts';
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
      process: null,
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
    { kind: 'file_exists', count: 2, lastAtMs: 30_500, line: expect.stringContaining(`container=…`) },
    { kind: 'cdi_unresolvable', count: 1, lastAtMs: 20_500 },
  ]);
});

test('a line stays the same from one time to the next, and keeps what it is about', () => {
  const said = (line: string) => parseEngineJournal(`10.0 host-1 ${line}`)?.[0]?.line;
  const uuid = '0b2f6a1e-1c2d-4e3f-8a9b-0c1d2e3f4a5b';
  expect(
    said(
      `kubelet[77]: E1130 12:00:00.123456   812 pod.go:9] "x" err="no runtime for \\"nvidia\\" is configured" podUID="${uuid}"`,
    ),
  ).toBe('kubelet[…]: pod.go:9] "x" err="no runtime for "nvidia" is configured" podUID="…"');
  expect(said(`dockerd[77]: UnexpectedAdmissionError GPU-${uuid}: unknown device`)).toContain(`GPU-${uuid}: unknown`);
  const layer = `/var/lib/containerd/x/snapshots/512/fs/libcuda.so.1: file exists pid=12 docker-${'a1'.repeat(32)}.scope`;
  expect(said(`containerd[7]: time="2026-06-01T10:00:00.5Z" ${layer}`)).toBe(
    'containerd[…]: time="…" /var/lib/containerd/x/snapshots/…/fs/libcuda.so.1: file exists pid=… docker-….scope',
  );
});

test('the rights of a process by what the kernel says of it', () => {
  const status = (groups: string) =>
    `Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1001\nGroups:\t${groups}\n`;
  expect(parseProcessStatus(status('44 1000 '))).toEqual({ uid: 1000, gids: [44, 1000, 1001] });
  expect(parseProcessStatus(status(''))).toEqual({ uid: 1000, gids: [1001] });
  expect(parseProcessStatus('Name:\tx\nUid:\tno\n')).toBeNull();
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

  test('looks at the rights of the main process of a container that runs', async () => {
    const folder = `/var/lib/docker/containers/${id}`;
    const pid = (Running: boolean) => config({ State: { Running, Pid: 4711, Error: '' } });
    const files = {
      [`${folder}/hostconfig.json`]: hostConfig({ Runtime: 'nvidia' }),
      '/proc/4711/status': 'Uid:\t1000\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\nGroups:\t\n',
    };
    const of = async (running: boolean) =>
      (await collectOn(workloadsProbe, { files: { ...files, [`${folder}/config.v2.json`]: pid(running) } })).value
        ?.docker?.[0]?.process;
    expect(await of(true)).toEqual({ uid: 1000, gids: [0] });
    expect(await of(false)).toBeNull();
  });

  test('forgets a failure that nobody has repeated for hours', async () => {
    const now = 1_800_000_000;
    const line = (at: number, what: string) => `${at}.000000 host-1 kubelet[7]: ${what}\n`;
    const text =
      line(now - 7 * 3600, 'no runtime for "a" is configured') + line(now - 3600, 'unresolvable CDI devices');
    const { value } = await collectOn(workloadsProbe, { commands: { [failuresArgv.join(' ')]: text } });
    expect(value?.failures?.map(({ kind }) => kind)).toEqual(['cdi_unresolvable']);
  });

  const kube = (change: object) =>
    ({ kube: { value: { kubelet: { rootDir: null, sockets: [] }, ...change } } }) as unknown as Partial<Facts>;
  const pods = JSON.stringify({
    items: [
      { metadata: { uid: 'uid-1', name: 'p', namespace: 'n' }, state: 'SANDBOX_READY', runtimeHandler: 'nvidia' },
    ],
  });
  test.each([
    ['its root', { rootDir: '/data/kubelet', sockets: [] }, '/data/kubelet'],
    ['the usual place although its root is another', { rootDir: '/data/kubelet', sockets: [] }, '/var/lib/kubelet'],
    [
      'where it listens',
      { rootDir: null, sockets: [{ path: '/srv/k/device-plugins/kubelet.sock', present: true, listening: true }] },
      '/srv/k',
    ],
  ])('finds the kubelet’s record at %s', async (_, kubelet, folder) => {
    const { value } = await collectOn(
      workloadsProbe,
      { files: { [`${folder}/device-plugins/kubelet_internal_checkpoint`]: checkpoint(['GPU-1']) } },
      kube({ kubelet }),
    );
    expect(value?.pods).toMatchObject([{ uid: 'uid-1', devices: ['GPU-1'] }]);
  });

  test.each([
    ['kubeadm', 'unix:///var/run/crio/crio.sock', 'crictl --runtime-endpoint unix:///var/run/crio/crio.sock'],
    ['kubeadm', '/run/other/containerd.sock', 'crictl --runtime-endpoint unix:///run/other/containerd.sock'],
    ['kubeadm', null, 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock'],
    [
      'microk8s',
      'unix:///var/snap/microk8s/common/run/containerd.sock',
      'crictl --runtime-endpoint unix:///var/snap/microk8s/common/run/containerd.sock',
    ],
    ['k3s', 'unix:///run/k3s/containerd/containerd.sock', 'k3s crictl'],
    [
      'rke2',
      'unix:///run/k3s/containerd/containerd.sock',
      '/var/lib/rancher/rke2/bin/crictl --runtime-endpoint unix:///run/k3s/containerd/containerd.sock',
    ],
  ])('asks the engine of a %s kubelet at %s', async (distribution, runtimeEndpoint, argv) => {
    const { value, partial } = await collectOn(
      workloadsProbe,
      {
        files: { '/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint': checkpoint(['GPU-1']) },
        commands: { [`${argv} pods -o json`]: pods },
      },
      kube({ distribution, runtimeEndpoint }),
    );
    expect(value?.pods).toMatchObject([{ name: 'p', handler: 'nvidia' }]);
    expect(partial?.map(({ path }) => path)).not.toContain('pods');
  });
});
