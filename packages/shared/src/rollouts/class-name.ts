import type { HostClass } from '../api/hosts.ts';

/** Hosts of one name fare alike under a change: platform, driver branch, runtime, k3s or not, MIG or not. */
export function toClassName(
  hostClass: Pick<HostClass, 'platform' | 'driverBranch' | 'runtime' | 'kubernetesRole' | 'mig'>,
): string {
  const isKubernetes = hostClass.kubernetesRole !== null || hostClass.runtime === 'k3s';
  return [
    hostClass.platform ?? 'unknown',
    hostClass.driverBranch ?? 'nodriver',
    hostClass.runtime ?? 'unknown',
    ...(isKubernetes && hostClass.runtime !== 'k3s' ? ['k3s'] : []),
    ...(hostClass.mig === 'enabled' || hostClass.mig === 'pending' ? ['mig'] : []),
  ].join('-');
}
