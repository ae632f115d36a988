/** What the files of a host say of the machine below it; null: the file is not there. */
export interface MachineSigns {
  /** systemd's note of the container that it was started in. */
  container: string | null;
  dockerMark: boolean;
  podmanMark: boolean;
  /** Control groups of the first process. */
  cgroup: string | null;
  kernel: string | null;
  wslInterop: boolean;
  /** null: these processors do not say. */
  hypervisorFlag: boolean | null;
  clockSources: string | null;
  /** Vendor and product names of the firmware, one a line. */
  firmware: string | null;
  /** `hypervisor` node of the device tree. */
  deviceTree: string | null;
  hasDeviceTree: boolean;
}

/** Names in the firmware that a hypervisor puts there, before those that say no more than QEMU. */
const vendors: readonly [RegExp, string][] = [
  [/^Amazon EC2$/m, 'amazon'],
  [/^Google(?: Compute Engine)?$/m, 'google'],
  [/^VMware|^VMW/m, 'vmware'],
  [/^(?:innotek GmbH|VirtualBox)$/m, 'oracle'],
  [/^(?:Virtual Machine|Hyper-V)/m, 'microsoft'],
  [/^Xen\b|^HVM domU$/m, 'xen'],
  [/^Parallels/m, 'parallels'],
  [/^BHYVE/m, 'bhyve'],
  [/^Apple Virtualization/m, 'apple'],
  [/^(?:KVM|OpenStack|KubeVirt|RHEV|oVirt)/m, 'kvm'],
];

/** In the words of `systemd-detect-virt`; null: the files do not tell. */
export function detectVirtualisation(signs: MachineSigns): string | null {
  return detectContainer(signs) ?? detectMachine(signs);
}

function detectContainer({ container, dockerMark, podmanMark, cgroup, kernel, wslInterop }: MachineSigns) {
  const named = container?.trim() ?? '';
  // systemd writes `docker` under an engine that asks it to; what is no plain word is not its note.
  if (/^[a-z][a-z-]{1,30}$/.test(named)) return named === 'oci' ? 'container-other' : named;
  if (podmanMark) return 'podman';
  if (dockerMark || /\/docker\b/.test(cgroup ?? '')) return 'docker';
  if (/\/lxc\b|\/\.lxc\b|\/lxc\.payload/.test(cgroup ?? '')) return 'lxc';
  if (/\/libpod\b/.test(cgroup ?? '')) return 'podman';
  if (/\/(?:kubepods|containerd)\b/.test(cgroup ?? '')) return 'container-other';
  return wslInterop || /microsoft|WSL/i.test(kernel ?? '') ? 'wsl' : null;
}

function detectMachine(signs: MachineSigns): string | null {
  const { hypervisorFlag, firmware, clockSources, deviceTree, hasDeviceTree } = signs;
  // Clouds rent whole machines too, under the same vendor's name.
  if (hypervisorFlag === false) return 'none';
  if (hypervisorFlag === null && /\bmetal$/m.test(firmware ?? '')) return 'none';
  const vendor = vendors.find(([pattern]) => pattern.test(firmware ?? ''))?.[1];
  if (vendor) return vendor;
  if (/\bkvm-clock\b/.test(clockSources ?? '') || /linux,kvm/.test(deviceTree ?? '')) return 'kvm';
  if (/\bhyperv_clocksource/.test(clockSources ?? '')) return 'microsoft';
  if (/\bxen\b/.test(clockSources ?? '') || /xen,/.test(deviceTree ?? '')) return 'xen';
  if (/^QEMU/m.test(firmware ?? '')) return 'qemu';
  if (hypervisorFlag === true) return null;
  return firmware !== null || hasDeviceTree ? 'none' : null;
}
