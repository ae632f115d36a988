import { dfArgv } from '../probes/disk/parse-df.ts';
import type { FactValue } from '../probes/facts.ts';
import { k3sDistribution, rke2Distribution } from '../probes/k3s/distribution.ts';
import { modulesFile } from '../probes/kernel-files.ts';
import type { KernelLogFact } from '../probes/kernel-log/fact.ts';
import { dmesgArgv, journalArgv } from '../probes/kernel-log/index.ts';
import { kubeReaders, questions } from '../probes/kube/kubectl.ts';
import { microk8sSocket } from '../probes/microk8s/microk8s-paths.ts';
import { secureBootSources } from '../probes/os/read-security.ts';
import { dpkgQueryArgv, rpmArgv } from '../probes/packages/parse-dpkg.ts';
import { unitStatesArgv } from '../probes/read-unit-states.ts';
import { statusArgv, timedatectlArgv } from '../probes/time-sync/index.ts';

/** Where evidence comes from, spelled as the facts' `how` spells it, so that a person can look at the same place. */
export const sources = {
  pciDevice: (address: string) => `file:/sys/bus/pci/devices/${address}`,
  pciDriver: (address: string) => `file:/sys/bus/pci/devices/${address}/driver`,
  pciConfig: (address: string) => `file:/sys/bus/pci/devices/${address}/config`,
  pciVendor: (address: string) => `file:/sys/bus/pci/devices/${address}/vendor`,
  heldGpu: (address: string) => `file:/proc/driver/nvidia/gpus/${address}/information`,
  pciBus: 'file:/sys/bus/pci/devices',
  modules: `file:${modulesFile}`,
  loadedDriver: 'file:/proc/driver/nvidia/version',
  moduleOnDisk: 'command:modinfo -F version nvidia',
  deviceTreeModel: 'file:/proc/device-tree/model',
  smiXml: 'command:nvidia-smi -q -x',
  fabricManagerVersion: 'command:nv-fabricmanager --version',
  openFiles: (pid: number) => `file:/proc/${pid}/fd`,
  kernelLog: ({ from }: Pick<KernelLogFact, 'from'>) =>
    `command:${(from === 'ring_buffer' ? dmesgArgv : journalArgv).join(' ')}`,
  docker: 'command:docker info --format {{json .}}',
  k3sCrictl: `command:${k3sDistribution.infoArgv.join(' ')}`,
  rke2Crictl: `command:${rke2Distribution.infoArgv.join(' ')}`,
  microk8sCrictl: `command:crictl --runtime-endpoint unix://${microk8sSocket} info`,
  runtimeClasses: ({ kube }: { kube: FactValue<'kube'> }) =>
    kubeSource(kube, kube.rights === 'admin' ? questions.classesAndDaemonSets() : questions.classes()),
  daemonSets: (kube: FactValue<'kube'>) => kubeSource(kube, questions.classesAndDaemonSets()),
  node: (kube: FactValue<'kube'>) => kubeSource(kube, questions.node(kube.node?.name ?? '')),
  pods: (kube: FactValue<'kube'>) => kubeSource(kube, questions.pods(kube.node?.name ?? '')),
  configMaps: (kube: FactValue<'kube'>, namespace: string) => kubeSource(kube, questions.configMaps(namespace)),
  modulesOf: (kernel: string) => `file:/lib/modules/${kernel}/kernel`,
  headersOf: (kernel: string) => `file:/lib/modules/${kernel}/build`,
  characterDevices: 'file:/proc/devices',
  file: (path: string) => `file:${path}`,
  packages: `command:${dpkgQueryArgv.join(' ')}`,
  rpmPackages: `command:${rpmArgv.join(' ')}`,
  df: `command:${dfArgv.join(' ')}`,
  secureBoot: ({ secureBootFrom }: FactValue<'os'>) => secureBootSources[secureBootFrom ?? 'firmware'],
  clock: ({ saidBy }: FactValue<'time_sync'>) =>
    `command:${(saidBy?.command === 'status' ? statusArgv : timedatectlArgv).join(' ')}`,
  units: `command:${unitStatesArgv.join(' ')}`,
} as const;

/** Each distribution has a kubectl of its own; a kubeadm host asks with the rights that it has. */
function kubeSource({ distribution, rights }: FactValue<'kube'>, question: readonly string[]): string {
  const reader =
    distribution === 'k3s' || distribution === 'rke2' || distribution === 'microk8s'
      ? kubeReaders[distribution]
      : kubeReaders[rights === 'admin' ? 'kubeadm' : 'kubelet'];
  return `command:${[...reader.argv, ...question].join(' ')}`;
}
