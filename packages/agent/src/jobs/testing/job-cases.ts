import { writeCrioFiles } from '../../host/simulated/classes/crio.ts';
import { writeMicrok8sTemplate } from '../../host/simulated/classes/microk8s.ts';
import type { Machine } from '../../host/simulated/machine.ts';
import { startUnit, stopUnit } from '../../host/simulated/systemd.ts';
import type { Bench } from './an-engine.ts';
import type { JobCase } from './crash-trial.ts';
import { deviceCases } from './device-cases.ts';
import { packageCases } from './package-cases.ts';

/** Every job kind on every platform that it has, and ways on which it must go back. One line for each. */
export const jobCases: readonly JobCase[] = [
  configure('docker', 'x86-docker', ['docker_runtime_not_configured']),
  configure('containerd', 'x86-containerd-1.7', ['containerd_runtime_not_configured']),
  configure('containerd', 'x86-containerd-2', ['containerd_runtime_not_configured']),
  { ...configure('k3s', 'k3s-server', ['k3s_restart_pending']), cannotGoBack: true },
  { ...configure('k3s', 'k3s-agent', ['k3s_restart_pending']), cannotGoBack: true },
  { ...configure('rke2', 'rke2-server', ['k3s_restart_pending']), cannotGoBack: true },
  {
    ...configure('crio', 'crio-worker'),
    prepare: spoiled('crio.service', (machine) => writeCrioFiles(machine, false)),
  },
  {
    ...configure('microk8s', 'microk8s-server'),
    prepare: spoiled('snap.microk8s.daemon-containerd.service', (machine) => writeMicrok8sTemplate(machine, false)),
  },
  {
    ...configure('containerd', 'x86-containerd-1.7', ['containerd_runtime_not_configured', 'containerd_drops_runtime']),
    goesBack: true,
  },
  {
    request: { kind: 'configure_runtime', params: { runtime: 'k3s', setAsDefault: true } },
    hostClass: 'k3s-server',
    faults: ['default_runtime_cuts_network'],
    goesBack: true,
  },
  {
    request: { kind: 'restart_service', params: { unit: 'docker' } },
    hostClass: 'x86-docker',
    faults: ['docker_restart_pending'],
    cannotGoBack: true,
  },
  {
    request: { kind: 'set_mig_mode', params: { enabled: false, destroyInstances: true } },
    hostClass: 'a100-mig',
    faults: ['mig_reset_required'],
  },
  { request: { kind: 'set_mig_mode', params: { enabled: true } }, hostClass: 'h100-mig' },
  {
    request: { kind: 'set_mig_mode', params: { enabled: true } },
    hostClass: 'h100-mig',
    faults: ['nvidia_smi_denied'],
    goesBack: true,
  },
  {
    request: { kind: 'set_mig_layout', params: { layout: { devices: { '3g.20gb': 2 } } } },
    hostClass: 'a100-mig',
  },
  {
    request: { kind: 'set_mig_layout', params: { layout: { devices: { '3g.40gb': 1, '1g.10gb': 2 } } } },
    hostClass: 'h100-mig',
  },
  {
    request: { kind: 'reset_gpu', params: { gpu: 'index-0' } },
    hostClass: 'h100-mig',
    faults: ['gsp_timeout'],
    cannotGoBack: true,
  },
  {
    request: { kind: 'reboot_host', params: {} },
    hostClass: 'x86-docker',
    faults: ['driver_library_mismatch'],
    cannotGoBack: true,
  },
  ...(['k3s-server', 'rke2-server', 'microk8s-server'] as const).map(
    (hostClass): JobCase => ({
      request: { kind: 'ensure_runtime_class', params: {} },
      hostClass,
      prepare: (bench) => setHandler(bench, null),
    }),
  ),
  {
    request: { kind: 'ensure_runtime_class', params: { replace: true } },
    hostClass: 'k3s-server',
    prepare: (bench) => setHandler(bench, 'runc'),
  },
  ...(['k3s-server', 'rke2-server', 'microk8s-server'] as const).map(
    (hostClass): JobCase => ({
      request: { kind: 'deploy_device_plugin', params: {} },
      hostClass,
      prepare: ({ host }) => void Object.assign(host.machine.kubernetes ?? {}, { devicePlugin: null }),
    }),
  ),
  {
    request: { kind: 'deploy_device_plugin', params: { runtimeClassName: 'nvidia' } },
    hostClass: 'k3s-server',
    faults: ['plugin_without_runtime_class'],
  },
  {
    request: { kind: 'deploy_device_plugin', params: { nodeLabels: { 'nvidia.com/gpu.present': 'true' } } },
    hostClass: 'rke2-server',
    faults: ['plugin_not_scheduled'],
  },
  {
    request: { kind: 'deploy_device_plugin', params: { restart: true } },
    hostClass: 'k3s-server',
    faults: ['plugin_gpu_unhealthy'],
    cannotGoBack: true,
  },
  {
    request: { kind: 'deploy_device_plugin', params: { runtimeClassName: 'crun' } },
    hostClass: 'k3s-server',
    goesBack: true,
  },
  {
    request: { kind: 'restart_service', params: { unit: 'k3s', drain: true } },
    hostClass: 'k3s-server',
    faults: ['k3s_restart_pending'],
    cannotGoBack: true,
  },
  {
    request: { kind: 'restart_service', params: { unit: 'k3s', drain: true } },
    hostClass: 'k3s-server',
    faults: ['k3s_restart_pending'],
    prepare: ({ host }) => {
      for (const pod of host.machine.kubernetes?.pods ?? []) pod.mayGo = false;
    },
    goesBack: true,
  },
  ...packageCases,
  ...deviceCases,
];

/** The RuntimeClass nvidia with another handler, or none of that name. */
function setHandler({ host }: Bench, handler: string | null): void {
  const { kubernetes } = host.machine;
  if (!kubernetes) throw new Error('the class is of a cluster');
  const others = kubernetes.runtimeClasses.filter(({ name }) => name !== 'nvidia');
  const all = [...others, ...(handler === null ? [] : [{ name: 'nvidia', handler }])];
  // The API lists by name.
  kubernetes.runtimeClasses = all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function configure(runtime: string, hostClass: JobCase['hostClass'], faults?: JobCase['faults']): JobCase {
  return { request: { kind: 'configure_runtime', params: { runtime } }, hostClass, ...(faults ? { faults } : {}) };
}

/** The engine was started with other files. */
function spoiled(unitName: string, spoil: (machine: Machine) => void): NonNullable<JobCase['prepare']> {
  return ({ host: { machine } }) => {
    const unit = machine.units.get(unitName);
    if (!unit) throw new Error(`the host has no ${unitName}`);
    stopUnit(machine, unit);
    spoil(machine);
    startUnit(machine, unit);
  };
}

export function nameOf({ request, hostClass, goesBack }: JobCase): string {
  const params = Object.entries(request.params).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${[request.kind, ...params].join(' ')} on ${hostClass}${goesBack ? ', going back' : ''}`;
}
