/** Where jobs may write, compiled in: no policy and no server can widen it. */
export interface AllowedPath {
  /** `*` stands for a part of one name; a last `**` for everything below the folder. */
  pattern: string;
  reason: string;
}

export const ALLOWED_PATHS: readonly AllowedPath[] = [
  { pattern: '/etc/docker/**', reason: 'daemon.json: runtimes and the default runtime of Docker' },
  { pattern: '/etc/containerd/**', reason: 'config.toml and drop-ins of containerd' },
  { pattern: '/etc/crio/**', reason: 'drop-ins of CRI-O' },
  { pattern: '/etc/rancher/k3s/**', reason: 'config.yaml.d: the default runtime of k3s' },
  { pattern: '/etc/rancher/rke2/**', reason: 'config.yaml.d: the default runtime of rke2' },
  { pattern: '/var/lib/rancher/k3s/agent/etc/containerd/**', reason: 'containerd templates and drop-ins of k3s' },
  { pattern: '/var/lib/rancher/rke2/agent/etc/containerd/**', reason: 'containerd templates and drop-ins of rke2' },
  { pattern: '/var/snap/microk8s/*/args/containerd-template.toml', reason: 'the containerd template of MicroK8s' },
  {
    pattern: '/var/lib/rancher/*/server/manifests/gpufleet-*.yaml',
    reason: 'manifests that k3s and rke2 deploy, in files of our own',
  },
  { pattern: '/etc/nvidia-container-runtime/**', reason: 'config.toml of the NVIDIA container runtime' },
  {
    pattern: '/home/*/.config/nvidia-container-runtime/config.toml',
    reason: 'the same of a user with a rootless engine of his own',
  },
  {
    pattern: '/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml',
    reason: 'the same of the toolkit that the GPU operator installs',
  },
  { pattern: '/etc/nvidia-container-toolkit/**', reason: 'settings of the unit that refreshes CDI specifications' },
  { pattern: '/etc/cdi/**', reason: 'CDI specifications that stay' },
  { pattern: '/run/cdi/**', reason: 'CDI specifications made at boot (/var/run/cdi leads here)' },
  { pattern: '/var/lib/nvpmodel/status', reason: 'the power mode that a Jetson takes at its next boot' },
  { pattern: '/etc/udev/rules.d/*gpufleet*.rules', reason: 'links to device nodes at boot, in a file of our own' },
  { pattern: '/etc/modules-load.d/gpufleet*.conf', reason: 'modules loaded at boot, in a file of our own' },
  { pattern: '/etc/modprobe.d/gpufleet*.conf', reason: 'module options, in a file of our own' },
  {
    pattern: '/etc/apt/sources.list.d/*nvidia*.list',
    reason: "entries of NVIDIA's repositories, and what older guides left",
  },
  { pattern: '/etc/apt/sources.list.d/*nvidia*.sources', reason: "entries of NVIDIA's repositories in the newer form" },
  { pattern: '/etc/apt/sources.list.d/cuda*.list', reason: "entries of NVIDIA's CUDA repositories" },
  { pattern: '/etc/apt/sources.list.d/cuda*.sources', reason: "entries of NVIDIA's CUDA repositories" },
  { pattern: '/etc/apt/keyrings/nvidia-container-toolkit.asc', reason: "the key of the toolkit's repository" },
  { pattern: '/etc/apt/keyrings/cuda-archive-keyring.asc', reason: 'the key of the CUDA repositories' },
  { pattern: '/etc/yum.repos.d/*nvidia*.repo', reason: "entries of NVIDIA's repositories" },
  { pattern: '/etc/pki/rpm-gpg/RPM-GPG-KEY-nvidia-container-toolkit', reason: "the key of the toolkit's repository" },
  {
    pattern: '/etc/systemd/system/*.d/*gpufleet*.conf',
    reason: 'our own drop-ins of units, never the units themselves',
  },
  { pattern: '/etc/gpufleet/mig.json', reason: 'the MIG layout that is made again at each boot' },
  { pattern: '/etc/systemd/system/gpufleet-mig.service', reason: 'the unit of our own that makes it' },
];

/** The path must be free of links and dots: ask only after it has been resolved. */
export function isAllowedPath(path: string, allowed: readonly AllowedPath[] = ALLOWED_PATHS): boolean {
  return allowed.some(({ pattern }) => toRegExp(pattern).test(path));
}

/** Whether a folder is on the way to where jobs may write, so that a job may have made it. As free of links and dots. */
export function isOnAllowedWay(folder: string, allowed: readonly AllowedPath[] = ALLOWED_PATHS): boolean {
  if (isAllowedPath(folder, allowed)) return true;
  const depth = folder.split('/').length;
  return allowed.some(({ pattern }) => {
    const parts = pattern.split('/');
    return depth < parts.length && toRegExp(parts.slice(0, depth).join('/')).test(folder);
  });
}

function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*\*$/, '.+').replace(/(?<!\.)\*/g, '[^/]*')}$`, 's');
}
