import type { FactValue } from '../../probes/facts.ts';
import type { OtherToolkitConfig, ToolkitConfig } from '../../probes/toolkit/fact.ts';

type Parts = { [K in 'toolkit' | 'docker' | 'containerd' | 'k3s']: FactValue<K> };
export type Rootless = NonNullable<FactValue<'docker'>['rootless']>[number];

/** A root engine whose containers get their devices by the legacy way, which `no-cgroups` concerns. */
export function rootEngineOf(facts: Parts): 'docker' | 'k3s' | 'containerd' | 'unknown' | null {
  const { toolkit, docker, containerd, k3s } = facts;
  if (isNeverLegacy(toolkit.config)) return null;
  if (docker.installed) {
    // `docker --gpus` goes through the hook, which is always the legacy way.
    if (docker.live) return docker.live.rootless ? null : 'docker';
    return docker.unit ? 'docker' : 'unknown';
  }
  if (toolkit.config.mode === 'auto' && autoMeansCdi(toolkit.version)) return null;
  return k3s.installed ? 'k3s' : containerd.installed ? 'containerd' : null;
}

/** Devices are never given by the hook in this mode, whoever runs the container. */
export function isNeverLegacy({ mode }: ToolkitConfig): boolean {
  return mode === 'cdi' || mode === 'jit-cdi' || mode === 'csv';
}

/** From 1.18 `auto` chooses just-in-time CDI where NVML is there. */
function autoMeansCdi(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 18);
}

/** The configuration that a user's engine reads instead of the system's. */
export function userConfigOf(toolkit: FactValue<'toolkit'>, { uid }: Rootless): OtherToolkitConfig | undefined {
  return toolkit.otherConfigs?.find((other) => other.scope === 'user' && other.uid === uid);
}
