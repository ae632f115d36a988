import { findProgram, type Machine } from '../machine.ts';
import { execOption, type Started, type Unit } from '../unit.ts';
import { criV2, criV3, type LoadedConfig, loadContainerdConfig, type Table, tableOf } from './containerd-config.ts';

export interface LiveRuntime {
  type: string;
  options: Table;
  privilegedWithoutHostDevices: boolean;
  snapshotter: string;
}

/** What the CRI plugin of a running containerd works with, or why it did not load. */
export type LiveCri =
  | { state: 'ok'; runtimes: Record<string, LiveRuntime>; defaultRuntime: string; enableCdi: boolean; config: Table }
  | { state: 'error'; error: string }
  | { state: 'disabled' };

export interface LiveContainerd {
  major: number;
  configPath: string;
  cri: LiveCri;
}

export const containerdConfigPath = '/etc/containerd/config.toml';

export function startContainerd(machine: Machine, unit: Unit): Started {
  if (!findProgram(machine, 'containerd')) return { ok: false, log: 'containerd: Failed at step EXEC' };
  const configPath = execOption(unit, '--config', '-c') ?? containerdConfigPath;
  const major = majorOf(machine.versions.containerd);
  const loaded = loadContainerdConfig(machine.files, configPath, major, { fileRequired: false });
  if (!loaded.ok) return loaded;
  machine.live.containerd = { major, configPath, cri: criOf(loaded, major) };
  return { ok: true };
}

export function majorOf(version: string): number {
  return Number(version.split('.')[0]);
}

/** What the CRI plugin makes of a merged configuration. */
export function criOf(loaded: LoadedConfig & { ok: true }, major: number): LiveCri {
  const disabled = Array.isArray(loaded.root.disabled_plugins) ? loaded.root.disabled_plugins.map(String) : [];
  if (disabled.some((name) => name === 'cri' || name === criV2 || name === criV3)) return { state: 'disabled' };
  const section = tableOf(loaded.plugins[major >= 2 ? criV3 : criV2]);
  const containerd = tableOf(section.containerd);
  const named = containerd.runtimes === undefined ? undefined : tableOf(containerd.runtimes);
  const runc = { runtime_type: 'io.containerd.runc.v2', options: {} };
  // 1.x lets a table of the file replace the built-in one as a whole; 2.x lays it over.
  const tables = named === undefined ? { runc } : major >= 2 ? { runc, ...named } : named;
  const defaultRuntime = typeof containerd.default_runtime_name === 'string' ? containerd.default_runtime_name : 'runc';
  if (!(defaultRuntime in tables)) {
    return {
      state: 'error',
      error: `invalid plugin config: no corresponding runtime configured in \`containerd.runtimes\` for \`containerd\` \`default_runtime_name = "${defaultRuntime}"\``,
    };
  }
  const runtimes = Object.fromEntries(
    Object.entries(tables).map(([name, table]): [string, LiveRuntime] => {
      const { runtime_type, options, privileged_without_host_devices, snapshotter } = tableOf(table);
      return [
        name,
        {
          type: typeof runtime_type === 'string' ? runtime_type : '',
          options: tableOf(options),
          privilegedWithoutHostDevices: privileged_without_host_devices === true,
          snapshotter: typeof snapshotter === 'string' ? snapshotter : '',
        },
      ];
    }),
  );
  const untyped = Object.entries(runtimes).find(([, runtime]) => runtime.type === '');
  if (untyped) {
    return {
      state: 'error',
      error: `invalid plugin config: \`containerd.runtimes.${untyped[0]}\` \`runtime_type\` is empty`,
    };
  }
  const enableCdi = typeof section.enable_cdi === 'boolean' ? section.enable_cdi : major >= 2;
  return { state: 'ok', runtimes, defaultRuntime, enableCdi, config: section };
}
