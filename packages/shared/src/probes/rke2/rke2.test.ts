import { expect, test } from 'vitest';
import { unitStatesArgv } from '../read-unit-states.ts';
import { collectOn } from '../testing/fake-reader.ts';
import { rke2Probe } from './index.ts';

const folder = '/var/lib/rancher/rke2/agent/etc/containerd';
const units = (server: string, agent: string) =>
  `Id=rke2-server.service\nLoadState=loaded\nActiveState=${server}\nUnitFileState=${server === 'active' ? 'enabled' : 'disabled'}\n\n` +
  `Id=rke2-agent.service\nLoadState=loaded\nActiveState=${agent}\nUnitFileState=${agent === 'active' ? 'enabled' : 'disabled'}\n`;
const rendered = `version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`;
const info = JSON.stringify({ config: { containerd: { runtimes: { runc: {} }, defaultRuntimeName: 'runc' } } });
const infoArgv = '/var/lib/rancher/rke2/bin/crictl --runtime-endpoint unix:///run/k3s/containerd/containerd.sock info';

test('reads role, settings, the rendered file and the live containerd of RKE2', async () => {
  const { value, partial } = await collectOn(rke2Probe, {
    files: {
      '/usr/local/bin/rke2': 'ELF',
      '/etc/rancher/rke2/config.yaml': 'token: secret\ndefault-runtime: nvidia\n',
      [`${folder}/config.toml`]: rendered,
      '/usr/bin/nvidia-container-runtime': 'ELF',
    },
    commands: {
      'rke2 --version': 'rke2 version v1.33.5+rke2r1 (abcdef)\ngo version go1.24.6 X:boringcrypto\n',
      [infoArgv]: info,
      [unitStatesArgv.join(' ')]: units('inactive', 'active'),
    },
  });
  expect(partial).toEqual([]);
  expect(value).toMatchObject({
    installed: true,
    version: 'v1.33.5+rke2r1',
    role: 'agent',
    unit: { name: 'rke2-agent.service' },
    defaultRuntimeSetting: 'nvidia',
    rendered: { schema: 3, runtimes: [{ name: 'runc' }] },
    dropInFolder: null,
    runtimesFound: [{ handler: 'nvidia', path: '/usr/bin/nvidia-container-runtime' }],
    live: { runtimes: [{ name: 'runc' }], defaultRuntime: 'runc' },
  });
});

test('takes the role whose unit runs, for its installer puts both on a host', async () => {
  const { value } = await collectOn(rke2Probe, {
    files: { '/usr/local/bin/rke2': 'ELF' },
    commands: { [unitStatesArgv.join(' ')]: units('active', 'inactive') },
  });
  expect(value).toMatchObject({ role: 'server', unit: { name: 'rke2-server.service' }, live: null });
});

test('is not there without its program', async () => {
  expect((await collectOn(rke2Probe, {})).value).toMatchObject({ installed: false, role: null, dataDir: null });
});
