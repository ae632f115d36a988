import type { HostClass } from '../api/index.ts';
import type { Facts } from './facts.ts';

/** What a host is, for rollouts and filters. A part whose fact could not be read is null. */
export function deriveHostClass(facts: Facts): HostClass {
  const gpus = facts.gpus.value?.gpus ?? null;
  const driverVersion = facts.gpus.value?.driverVersion ?? facts.driver.value?.loadedVersion ?? null;
  return {
    platform: toPlatform(facts),
    gpuModel: gpus?.[0]?.name ?? null,
    gpuCount: toGpuCount(facts),
    driverVersion,
    driverBranch: driverVersion?.split('.')[0] ?? null,
    ...toRuntime(facts),
    kubernetesRole: toKubernetesRole(facts),
    clusterId: facts.kube.value?.clusterId ?? null,
    mig: toMig(facts),
    toolkitVersion: facts.toolkit.value?.version ?? null,
    os: toOs(facts),
    l4t: facts.jetson.value?.l4t ?? null,
  };
}

function toPlatform({ jetson, os }: Facts): HostClass['platform'] {
  if (jetson.value?.isTegra) return 'jetson';
  const arch = os.value?.arch;
  if (arch === 'x86_64') return 'x86';
  return arch === 'aarch64' ? 'arm' : null;
}

function toOs({ os }: Facts): string | null {
  return os.value?.id ? [os.value.id, os.value.versionId].filter((part) => part !== null).join(' ') : null;
}

/** The PCI bus still shows a GPU whose driver does not answer. On Tegra only nvidia-smi can count. */
function toGpuCount({ gpus, pci, jetson }: Facts): number | null {
  if (gpus.value !== null) return gpus.value.attached ?? gpus.value.gpus.length;
  return jetson.value?.isTegra === false ? (pci.value?.gpus.length ?? null) : null;
}

/** The engine that Kubernetes uses goes before one that is merely installed; k3s brings its own. */
function toRuntime({ docker, containerd, kube, ...others }: Facts): Pick<HostClass, 'runtime' | 'runtimeVersion'> {
  for (const runtime of ['k3s', 'rke2', 'microk8s'] as const) {
    // An older agent tells nothing of some of them.
    const own = others[runtime]?.value;
    if (own?.installed && own.role !== null) return { runtime, runtimeVersion: own.version };
  }
  const kubeletUsesContainerd = kube.value?.runtimeEndpoint?.includes('/containerd.sock') ?? false;
  if (docker.value?.installed && !kubeletUsesContainerd)
    return { runtime: 'docker', runtimeVersion: docker.value.live?.version ?? null };
  if (containerd.value?.installed) return { runtime: 'containerd', runtimeVersion: containerd.value.version };
  const allRead = others.k3s.value !== null && docker.value !== null && containerd.value !== null;
  return { runtime: allRead ? 'none' : null, runtimeVersion: null };
}

function toKubernetesRole({ kube, k3s }: Facts): HostClass['kubernetesRole'] {
  if (kube.value?.present && kube.value.controlPlane !== null) return kube.value.controlPlane ? 'server' : 'agent';
  return k3s.value?.role ?? null;
}

function toMig({ gpus }: Facts): HostClass['mig'] {
  if (gpus.value === null || gpus.value.gpus.length === 0) return null;
  const modes = gpus.value.gpus.map(({ mig }) => mig);
  if (modes.some(({ current, pending }) => current !== null && pending !== null && current !== pending))
    return 'pending';
  if (modes.some(({ current }) => current === 'enabled')) return 'enabled';
  return modes.some(({ current }) => current === 'disabled') ? 'disabled' : 'unsupported';
}
