import { ejectModule, unlinkAll } from '../../host/simulated/kernel-modules.ts';
import type { Bench } from './an-engine.ts';
import type { JobCase } from './crash-trial.ts';

const policy = { acceptEnvvarWhenUnprivileged: false, acceptVolumeMounts: true };

/** Settings of the toolkit, CDI specifications, modules with their nodes, power modes. */
export const deviceCases: readonly JobCase[] = [
  ...(['x86-docker', 'x86-containerd-2', 'k3s-agent', 'orin'] as const).map(
    (hostClass): JobCase => ({ request: { kind: 'set_toolkit_config', params: policy }, hostClass }),
  ),
  ...(['x86-docker', 'k3s-agent', 'orin'] as const).map(
    (hostClass): JobCase => ({ request: { kind: 'generate_cdi', params: {} }, hostClass }),
  ),
  {
    request: { kind: 'generate_cdi', params: { path: '/etc/cdi/nvidia.yaml', replaceOthers: true } },
    hostClass: 'x86-containerd-1.7',
    prepare: ({ host }) => void host.machine.files.put('/etc/cdi/old.yaml', oldSpec, { mode: 0o640 }),
  },
  ...(['x86-docker', 'k3s-server', 'hgx-h100'] as const).map(
    (hostClass): JobCase => ({ request: { kind: 'load_modules', params: {} }, hostClass, prepare: withoutUvm }),
  ),
  { request: { kind: 'set_power_mode', params: { mode: 'MODE_50W' } }, hostClass: 'orin' },
  { request: { kind: 'set_power_mode', params: { mode: '70W', reboot: true } }, hostClass: 'thor' },
];

const oldSpec = `cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia99
`;

/** Nothing has asked for unified memory since the boot, and nothing does at the next one. */
function withoutUvm({ host: { machine } }: Bench): void {
  ejectModule(machine, 'nvidia_uvm');
  machine.modulesOfBoot.delete('nvidia_uvm');
  machine.linksNodes = false;
  for (const name of ['nvidia-uvm', 'nvidia-uvm-tools']) machine.files.remove(`/dev/${name}`);
  unlinkAll(machine);
}
