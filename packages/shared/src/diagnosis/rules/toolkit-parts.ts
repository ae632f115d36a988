import type { ConfigFile } from '../../probes/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import type { OtherToolkitConfig, ToolkitConfig } from '../../probes/toolkit/fact.ts';
import { isOlderThan, versionParts } from '../../probes/versions.ts';
import type { Found } from '../define-rule.ts';
import { sources } from '../sources.ts';

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
  if (toolkit.config.mode === 'auto' && autoMeansCdi(toolkit.version) === true) return null;
  return k3s.installed ? 'k3s' : containerd.installed ? 'containerd' : null;
}

/** Devices are never given by the hook in this mode, whoever runs the container. */
export function isNeverLegacy({ mode }: ToolkitConfig): boolean {
  return mode === 'cdi' || mode === 'jit-cdi' || mode === 'csv';
}

/** From 1.18 `auto` chooses just-in-time CDI where NVML is there; null: the version is not known. */
export function autoMeansCdi(version: string | null): boolean | null {
  return versionParts(version) === null ? null : !isOlderThan(version, [1, 18]);
}

/** The configuration that a user's engine reads instead of the system's. */
export function userConfigOf(toolkit: FactValue<'toolkit'>, { uid }: Rootless): OtherToolkitConfig | undefined {
  return toolkit.otherConfigs?.find((other) => other.scope === 'user' && other.uid === uid);
}

/** What its file says, or that it says nothing and what the toolkit takes then. */
export function toolkitQuote(
  {
    configFile,
    config,
    stated,
  }: Pick<FactValue<'toolkit'>, 'stated'> & { configFile: ConfigFile; config: ToolkitConfig },
  key: keyof ToolkitConfig,
): Found['evidence'][number] {
  const { table, name } = keysOf[key];
  const value = config[key];
  const shown = typeof value === 'string' ? `"${value}"` : String(value);
  const isStated = configFile.present && configFile.error === null && (stated ?? []).includes(key);
  return {
    source: sources.file(configFile.path),
    quote: isStated
      ? `${table === null ? '' : `[${table}] `}${name} = ${shown}`
      : `${name} is not set in ${configFile.path}; the default is ${shown}`,
  };
}

const keysOf: Record<keyof ToolkitConfig, { table: string | null; name: string }> = {
  mode: { table: 'nvidia-container-runtime', name: 'mode' },
  runtimes: { table: 'nvidia-container-runtime', name: 'runtimes' },
  noCgroups: { table: 'nvidia-container-cli', name: 'no-cgroups' },
  driverRoot: { table: 'nvidia-container-cli', name: 'root' },
  ldconfig: { table: 'nvidia-container-cli', name: 'ldconfig' },
  disableRequire: { table: null, name: 'disable-require' },
  acceptEnvvarWhenUnprivileged: { table: null, name: 'accept-nvidia-visible-devices-envvar-when-unprivileged' },
  acceptVolumeMounts: { table: null, name: 'accept-nvidia-visible-devices-as-volume-mounts' },
  logLevel: { table: 'nvidia-container-runtime', name: 'log-level' },
  cdiSpecDirs: { table: 'nvidia-container-runtime.modes.cdi', name: 'spec-dirs' },
};
