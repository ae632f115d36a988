import { boards } from './classes/jetson.ts';
import { findProgram, type Machine } from './machine.ts';

export interface DebPackage {
  name: string;
  version: string;
  arch: 'amd64' | 'arm64' | 'all';
  /** dpkg's status in three words. */
  status?: string;
}

export function debArch(machine: Machine): 'amd64' | 'arm64' {
  return machine.os.arch === 'aarch64' ? 'arm64' : 'amd64';
}

export interface Release {
  id: 'debian' | 'ubuntu';
  versionId: string;
  codename: string;
}

export function releaseOf(machine: Machine): Release {
  const text = machine.files.text('/usr/lib/os-release') ?? '';
  const value = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  return {
    id: value('ID') === 'debian' ? 'debian' : 'ubuntu',
    versionId: value('VERSION_ID'),
    codename: value('VERSION_CODENAME'),
  };
}

/** What dpkg has on record, derived from what is installed on the machine now: as `dpkg-query -W` lists it, by name. */
export function installedPackages(machine: Machine): DebPackage[] {
  const found = [
    ...basePackages(),
    ...kernelPackages(machine),
    ...(machine.files.has('/etc/nv_tegra_release') ? jetsonPackages(machine) : driverPackages(machine)),
    ...toolkitPackages(machine),
    ...enginePackages(machine),
  ];
  const arch = debArch(machine);
  const { record, held } = machine.packages;
  const others = found.filter(({ name }) => !record.has(name));
  const recorded = [...record].flatMap(([name, entry]) => (entry === null ? [] : [{ name, ...entry }]));
  const own = [...others, ...recorded].map((entry) => ({
    ...entry,
    arch: ('arch' in entry ? entry.arch : undefined) ?? arch,
    status: held.has(entry.name) ? 'hold ok installed' : entry.status,
  }));
  return own.sort((a, b) => (a.name < b.name ? -1 : 1));
}

type Given = Omit<DebPackage, 'arch'> & { arch?: DebPackage['arch'] };

function several(names: readonly string[], version: string): Given[] {
  return names.map((name) => ({ name, version }));
}

function basePackages(): Given[] {
  return [
    { name: 'base-files', version: '13ubuntu10.2' },
    { name: 'bash', version: '5.2.21-2ubuntu4' },
    { name: 'ca-certificates', version: '20240203', arch: 'all' },
    { name: 'old-tool', version: '1.2-1', arch: 'all', status: 'deinstall ok config-files' },
  ];
}

function kernelPackages(machine: Machine): Given[] {
  const { kernel } = machine.os;
  if (kernel.endsWith('-tegra')) return [];
  const { id } = releaseOf(machine);
  const version = id === 'debian' ? '6.1.129-1' : `${kernel.replace('-generic', '')}.${kernel.split('-')[1] ?? '1'}`;
  return several(
    [`linux-image-${kernel}`, `linux-headers-${kernel}`, ...(id === 'ubuntu' ? [`linux-modules-${kernel}`] : [])],
    version,
  );
}

function driverPackages(machine: Machine): Given[] {
  if (!machine.driver || !machine.files.has('/usr/bin/nvidia-smi')) return [];
  const { onDisk, library, flavour } = machine.driver;
  const open = flavour === 'open';
  const keyring: Given[] = [{ name: 'cuda-keyring', version: '1.1-1', arch: 'all' }];
  const dkms: Given = { name: 'dkms', version: '3.0.11-1ubuntu13', arch: 'all' };
  if (releaseOf(machine).id === 'debian') {
    return [
      ...keyring,
      dkms,
      ...several(
        [open ? 'nvidia-kernel-open-dkms' : 'nvidia-kernel-dkms', 'nvidia-driver', 'nvidia-kernel-support'],
        `${onDisk}-1`,
      ),
      ...several(['libcuda1', 'libnvidia-ml1', 'nvidia-smi', 'nvidia-persistenced'], `${library}-1`),
    ];
  }
  const branch = onDisk.split('.')[0] ?? '';
  return [
    ...keyring,
    dkms,
    ...several(
      [
        `nvidia-dkms-${branch}${open ? '-open' : ''}`,
        `nvidia-kernel-common-${branch}`,
        `nvidia-kernel-source-${branch}${open ? '-open' : ''}`,
      ],
      `${onDisk}-0ubuntu1`,
    ),
    ...several(
      [`libnvidia-compute-${branch}`, `nvidia-utils-${branch}`, `nvidia-compute-utils-${branch}`],
      `${library}-0ubuntu1`,
    ),
  ];
}

function jetsonPackages(machine: Machine): Given[] {
  const release = machine.files.text('/etc/nv_tegra_release') ?? '';
  const board = Object.values(boards).find((candidate) => release.startsWith(candidate.release));
  if (board === undefined) return [];
  const parts = ['3d-core', 'core', 'cuda', 'firmware', 'init', 'nvpmodel', 'tools'];
  return [
    ...several(
      parts.map((part) => `nvidia-l4t-${part}`),
      board.l4tPackage,
    ),
    { name: 'nvidia-l4t-kernel', version: `${machine.os.kernel}-${board.l4tPackage}` },
    ...several(['nvidia-jetpack', 'nvidia-container'], board.jetpackPackage),
  ];
}

function toolkitPackages(machine: Machine): Given[] {
  if (findProgram(machine, 'nvidia-container-runtime') === undefined) return [];
  const names = [
    'libnvidia-container1',
    'libnvidia-container-tools',
    'nvidia-container-toolkit',
    'nvidia-container-toolkit-base',
  ];
  return several(names, `${machine.versions.toolkit}-1`);
}

function enginePackages(machine: Machine): Given[] {
  const { docker, containerd } = machine.versions;
  const { id, versionId, codename } = releaseOf(machine);
  const build = `${id}.${versionId}~${codename}`;
  const hasContainerd = machine.files.has('/usr/bin/containerd');
  const kubelet = machine.files.has('/usr/bin/kubelet')
    ? machine.kubernetes?.kubeletVersion.replace(/^v/, '')
    : undefined;
  return [
    ...(machine.files.has('/usr/bin/dockerd') ? several(['docker-ce', 'docker-ce-cli'], `5:${docker}-1~${build}`) : []),
    ...(hasContainerd ? several(['containerd.io'], `${containerd}-1`) : []),
    ...(kubelet === undefined ? [] : several(['kubelet', 'kubeadm', 'kubectl'], `${kubelet}-1.1`)),
    ...(kubelet === undefined ? [] : several(['kubernetes-cni', 'cri-tools'], '1.6.0-1.1')),
  ];
}
