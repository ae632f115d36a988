import { crioDropIns, crioSocket } from '../daemons/crio.ts';
import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';
import { installKubelet } from './engines.ts';

export const crioNvidiaDropIn = `${crioDropIns}/99-nvidia.toml`;
const monitor = '/usr/libexec/crio/conmon';

/** A kubeadm worker whose kubelet uses CRI-O, as its packages install it. */
export function installCrioWorker(
  machine: Machine,
  versions: { crio: string; kubelet: string },
  cluster: string,
): void {
  machine.versions.crio = versions.crio;
  installProgram(machine, '/usr/bin/crio');
  for (const name of ['crun', 'runc', 'conmon']) installProgram(machine, `/usr/libexec/crio/${name}`);
  installUnit(machine, {
    name: 'crio.service',
    description: 'Container Runtime Interface for OCI (CRI-O)',
    exec: '/usr/bin/crio',
    restartSec: 10,
  });
  installKubelet(machine, { version: versions.kubelet, endpoint: `unix://${crioSocket}` }, cluster);
  machine.files.put(
    `${crioDropIns}/10-crio.conf`,
    `[crio.image]
signature_policy = "/etc/crio/policy.json"

[crio.runtime]
default_runtime = "crun"

${handler('crun')}
${handler('runc')}`,
  );
}

function handler(name: string): string {
  return `[crio.runtime.runtimes.${name}]
runtime_path = "/usr/libexec/crio/${name}"
runtime_root = "/run/${name}"
monitor_path = "${monitor}"
allowed_annotations = [
    "io.containers.trace-syscall",
]
`;
}

export function writeCrioFiles(machine: Machine, nvidia: boolean): void {
  if (!nvidia) {
    machine.files.remove(crioNvidiaDropIn);
    return;
  }
  machine.files.put(
    crioNvidiaDropIn,
    `
[crio]

  [crio.runtime]

    [crio.runtime.runtimes]

      [crio.runtime.runtimes.nvidia]
        allowed_annotations = ["io.containers.trace-syscall"]
        monitor_path = "${monitor}"
        runtime_path = "/usr/bin/nvidia-container-runtime"
        runtime_root = "/run/crun"
        runtime_type = "oci"
`,
  );
}
