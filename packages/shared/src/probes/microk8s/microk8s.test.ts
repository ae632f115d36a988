import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { microk8sProbe } from './index.ts';
import { parseSnapVersion } from './parse-snap-version.ts';

const data = '/var/snap/microk8s/current';
const toml = `version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "\${RUNTIME}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "\${RUNTIME_TYPE}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia-container-runtime]
runtime_type = "\${RUNTIME_TYPE}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia-container-runtime.options]
BinaryName = "nvidia-container-runtime"
`;
const snap = { '/snap/microk8s/current/meta/snap.yaml': 'name: microk8s\nversion: v1.32.3\nsummary: x\n' };
const commands = {
  [unitStatesArgv.join(' ')]:
    'Id=snap.microk8s.daemon-containerd.service\nLoadState=loaded\nActiveState=active\nMainPID=70\n',
};

test('reads the template, what was made from it, version and role', async () => {
  const { value, partial } = await collectOn(microk8sProbe, {
    files: {
      ...snap,
      [`${data}/args/containerd-template.toml`]: toml,
      [`${data}/args/containerd.toml`]: toml.replace(/\$\{RUNTIME\}/g, 'runc'),
    },
    commands,
  });
  expect(value).toMatchObject({
    installed: true,
    version: 'v1.32.3',
    role: 'server',
    unit: { name: 'snap.microk8s.daemon-containerd.service', activeState: 'active' },
    template: { present: true, error: null },
    rendered: { defaultRuntime: 'runc' },
    live: null,
  });
  expect(value?.rendered?.runtimes.map(({ name }) => name)).toEqual(['nvidia-container-runtime', 'runc']);
  expect(value?.templateConfig?.runtimes.map(({ name }) => name)).toEqual(['nvidia-container-runtime', 'runc']);
  // MicroK8s brings no crictl; only what was made from the template tells.
  expect(partial).toEqual([{ path: 'live', because: 'no_crictl' }]);
});

test('knows a worker of a cluster, and asks crictl where the host has one', async () => {
  const { value } = await collectOn(microk8sProbe, {
    files: { ...snap, [`${data}/var/lock/clustered.lock`]: '', [`${data}/var/lock/ha-cluster`]: '' },
    commands: {
      ...commands,
      'crictl --runtime-endpoint unix:///var/snap/microk8s/common/run/containerd.sock info': JSON.stringify({
        config: { containerd: { runtimes: { runc: {} }, defaultRuntimeName: 'runc' } },
      }),
    },
  });
  expect(value).toMatchObject({ role: 'agent', live: { defaultRuntime: 'runc' } });
});

test('is not there without its snap', async () => {
  expect((await collectOn(microk8sProbe, {})).value).toMatchObject({ installed: false, role: null, live: null });
});

test('reads a version of any shape without throwing', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseSnapVersion(text)));
  expect(parseSnapVersion("apps:\n  version: v9\nversion: '1.31/stable'\n")).toBe('1.31');
});
