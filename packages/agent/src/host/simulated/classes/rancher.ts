import { agentDirOf, type Rancher } from '../daemons/k3s.ts';
import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';
import { certificate } from './engines.ts';
import { emptyNode } from './workloads.ts';

const classes = [
  'crun',
  'lunatic',
  'nvidia',
  'nvidia-experimental',
  'slight',
  'spin',
  'wasmedge',
  'wasmer',
  'wasmtime',
  'wws',
];

export function installK3s(machine: Machine, version: string, role: 'server' | 'agent', cluster: string): void {
  installProgram(machine, '/usr/local/bin/k3s');
  for (const name of ['kubectl', 'crictl', 'ctr']) machine.files.putLink(`/usr/local/bin/${name}`, 'k3s');
  installUnit(machine, {
    name: role === 'server' ? 'k3s.service' : 'k3s-agent.service',
    description: 'Lightweight Kubernetes',
    exec: `/usr/local/bin/k3s ${role}`,
    type: role === 'server' ? 'notify' : 'exec',
    restartSec: 5,
    folder: '/etc/systemd/system',
  });
  installRancher(machine, { name: 'k3s', version, role, cluster });
}

/** Its installer puts both units on a machine; a person enables the one of the role. */
export function installRke2(machine: Machine, version: string, role: 'server' | 'agent', cluster: string): void {
  installProgram(machine, '/usr/local/bin/rke2');
  for (const name of ['kubectl', 'crictl', 'ctr', 'containerd', 'kubelet'])
    installProgram(machine, `/var/lib/rancher/rke2/bin/${name}`);
  for (const one of ['server', 'agent'] as const)
    installUnit(machine, {
      name: `rke2-${one}.service`,
      description: `Rancher Kubernetes Engine v2 (${one})`,
      exec: `/usr/local/bin/rke2 ${one}`,
      restartSec: 5,
      folder: '/usr/local/lib/systemd/system',
      enabled: one === role ? 'enabled' : 'disabled',
    });
  installRancher(machine, { name: 'rke2', version, role, cluster });
}

function installRancher(
  machine: Machine,
  { name, version, role, cluster }: { name: Rancher; version: string; role: 'server' | 'agent'; cluster: string },
): void {
  machine.versions.k3s = version;
  const { files, random } = machine;
  const [config, data] = [`/etc/rancher/${name}`, `/var/lib/rancher/${name}`];
  files.putDir(agentDirOf(name));
  files.put(`${data}/agent/client-ca.crt`, certificate(cluster));
  files.put(`${data}/agent/server-ca.crt`, certificate(`${cluster}/server`));
  if (role === 'server') {
    files.put(`${config}/config.yaml`, 'write-kubeconfig-mode: "0600"\nsecrets-encryption: true\n', { mode: 0o600 });
    files.put(
      `${config}/${name}.yaml`,
      'apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://127.0.0.1:6443\n  name: default\n',
      { mode: 0o600 },
    );
    files.put(`${data}/server/tls/server-ca.crt`, certificate(`${cluster}/server`));
  } else {
    files.put(`${config}/config.yaml`, `server: https://10.0.0.10:6443\ntoken-file: ${config}/token\n`, {
      mode: 0o600,
    });
    files.put(`${config}/token`, `K10${random.hex(`${name}/token`, 64)}\n`, { mode: 0o600 });
  }
  machine.kubernetes = {
    nodeName: machine.name,
    role: role === 'server' ? 'control_plane' : 'worker',
    kubeletVersion: version,
    kubeletDir: '/var/lib/kubelet',
    runtimeClasses: classes.map((one) => ({ name: one, handler: one })),
    labels: {
      'node.kubernetes.io/instance-type': name,
      'nvidia.com/gpu.present': 'true',
      ...(role === 'server' ? { 'node-role.kubernetes.io/master': 'true' } : {}),
    },
    taints: [],
    devicePlugin: null,
    ...emptyNode(),
  };
}
