import type { DevicePlugin, Machine } from '../machine.ts';
import type { SimulatedFault } from './fault.ts';

const servers = ['k3s-server', 'rke2-server'] as const;
const gpuLabel = 'nvidia.com/gpu.present';

/** What stands between the kubelet and the GPUs that its engine could give. */
export const kubeFaults = {
  plugin_without_runtime_class: {
    title: "the device plugin's DaemonSet names no RuntimeClass, and the default runtime is runc",
    code: 'DEVICE_PLUGIN_WITHOUT_NVIDIA_RUNTIME',
    classes: [...servers, 'k3s-agent', 'x86-containerd-1.7', 'x86-containerd-2'],
    apply: (machine) => change(machine, { runtimeClassName: null }),
    repair: (machine) => change(machine, { runtimeClassName: 'nvidia' }),
    isPresent: (machine) => machine.kubernetes?.devicePlugin?.runtimeClassName === null,
  },
  plugin_not_scheduled: {
    title: 'the node has none of the labels that the device plugin is put on nodes by',
    code: 'DEVICE_PLUGIN_NOT_SCHEDULED',
    classes: servers,
    apply(machine) {
      const { kubernetes, files } = machine;
      if (!kubernetes) return;
      delete kubernetes.labels[gpuLabel];
      // The kubelet removes the logs of a pod with the pod.
      files.remove('/var/log/pods');
    },
    repair(machine) {
      if (machine.kubernetes) machine.kubernetes.labels[gpuLabel] = 'true';
    },
    isPresent: (machine) => machine.kubernetes?.labels[gpuLabel] === undefined,
  },
  plugin_gpu_unhealthy: {
    title: 'the device plugin took a GPU out of service after an Xid of an application, and keeps it there',
    code: 'DEVICE_PLUGIN_GPU_UNHEALTHY',
    classes: [...servers, 'x86-containerd-2'],
    apply: (machine) => change(machine, { unhealthy: [{ uuid: machine.gpus[0]?.uuid ?? '', xid: 69 }] }),
    repair: (machine) => change(machine, { unhealthy: [] }),
    isPresent: (machine) => (machine.kubernetes?.devicePlugin?.unhealthy.length ?? 0) > 0,
  },
  plugin_mig_strategy_single: {
    title: "the device plugin's MIG strategy is single on a node with several profiles",
    code: 'MIG_STRATEGY_MISMATCH',
    classes: ['h100-mig'],
    apply: (machine) => change(machine, { migStrategy: 'single' }),
    repair: (machine) => change(machine, { migStrategy: 'mixed' }),
    isPresent: (machine) => machine.kubernetes?.devicePlugin?.migStrategy === 'single',
  },
} as const satisfies Record<string, SimulatedFault>;

function change(machine: Machine, changes: Partial<DevicePlugin>): void {
  if (machine.kubernetes?.devicePlugin) Object.assign(machine.kubernetes.devicePlugin, changes);
}
