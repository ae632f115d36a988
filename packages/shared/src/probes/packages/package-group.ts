import type { HostPackage } from './fact.ts';

/** First match wins: the toolkit and Jetson's packages carry names that look like the driver's. */
const groups: readonly (readonly [HostPackage['group'], RegExp])[] = [
  ['keyring', /^(cuda|nvidia|docker|libnvidia|kubernetes)[\w.+-]*-(archive-)?keyring$/],
  ['jetson', /^(nvidia-l4t-|nvidia-jetpack|nvidia-container-csv-|nvidia-container$|nvidia-igx|nvidia-tegra-)/],
  ['toolkit', /^(nvidia-container-|libnvidia-container|nvidia-docker)/],
  ['docker', /^(docker\.io|docker-ce|docker-engine|docker-buildx|docker-compose|moby-(engine|cli)|docker$)/],
  ['containerd', /^(containerd|runc$|nerdctl)/],
  ['kubernetes', /^(kubelet|kubeadm|kubectl|kubernetes-cni|cri-tools|cri-o|k3s|rke2)/],
  [
    'driver',
    /^(nvidia-|libnvidia-|cuda-drivers|cuda-compat|libcuda1|libnvcuvid|libnvoptix|xserver-xorg-video-nvidia|xorg-x11-drv-nvidia|kmod-nvidia|akmod-nvidia|linux-(modules|objects|signatures)-nvidia|libnvsdm|datacenter-gpu-manager)/,
  ],
  ['kernel', /^(linux-(image|headers|modules)|kernel(-core|-devel|-headers|-modules|-rt)?(-matched)?$|dkms$)/],
];

/** null: a package that is nothing to a GPU host. */
export function packageGroup(name: string): HostPackage['group'] | null {
  return groups.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
}
