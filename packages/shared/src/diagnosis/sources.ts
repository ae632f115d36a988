import { unitStatesArgv } from '../probes/read-unit-states.ts';

/** Where evidence comes from, spelled as the facts' `how` spells it, so that a person can look at the same place. */
export const sources = {
  pciDevice: (address: string) => `file:/sys/bus/pci/devices/${address}`,
  pciDriver: (address: string) => `file:/sys/bus/pci/devices/${address}/driver`,
  pciVendor: (address: string) => `file:/sys/bus/pci/devices/${address}/vendor`,
  pciBus: 'file:/sys/bus/pci/devices',
  modules: 'file:/proc/modules',
  loadedDriver: 'file:/proc/driver/nvidia/version',
  moduleOnDisk: 'command:modinfo -F version nvidia',
  deviceTreeModel: 'file:/proc/device-tree/model',
  smiXml: 'command:nvidia-smi -q -x',
  docker: 'command:docker info --format {{json .}}',
  containerdVersion: 'command:containerd --version',
  crictl: 'command:crictl --runtime-endpoint unix:///run/containerd/containerd.sock info',
  k3sCrictl: 'command:k3s crictl info',
  /** k3s brings its own kubectl; elsewhere a host asks with the rights that it has. */
  runtimeClasses(facts: { k3s: { installed: boolean }; kube: { controlPlane: boolean | null } }): string {
    if (facts.k3s.installed) return 'command:k3s kubectl get runtimeclass -o json';
    const rights = facts.kube.controlPlane ? 'admin.conf' : 'kubelet.conf';
    return `command:kubectl --kubeconfig /etc/kubernetes/${rights} get runtimeclass -o json`;
  },
  file: (path: string) => `file:${path}`,
  units: `command:${unitStatesArgv.join(' ')}`,
} as const;
