import type { HostClass } from '@gpufleet/shared/api';
import { toCanonicalJson } from '@gpufleet/shared/core';
import { type TraitKey, traitKeys } from './table.ts';

/** What is known of them. */
export function toTraits(hostClass: HostClass): { key: TraitKey; value: string }[] {
  const values: Record<TraitKey, string | null> = {
    gpu: hostClass.gpuModel,
    driver: hostClass.driverVersion,
    branch: hostClass.driverBranch,
    runtime: hostClass.runtime,
    mig: hostClass.mig,
    platform: hostClass.platform,
    toolkit: hostClass.toolkitVersion,
    os: hostClass.os,
    l4t: hostClass.l4t,
    role: hostClass.kubernetesRole,
  };
  return traitKeys.flatMap((key) => {
    const value = values[key];
    return value === null ? [] : [{ key, value }];
  });
}

/** Equal for hosts that are alike, whatever cluster they belong to. */
export function toVariant({ clusterId: _, ...rest }: HostClass): string {
  return toCanonicalJson(rest);
}
