import { parseToml } from '@gpufleet/shared/probes';
import { findProgram, type Machine } from '../machine.ts';
import type { Started } from '../unit.ts';
import { type Table, tableOf } from './containerd-config.ts';

export const crioConfigPath = '/etc/crio/crio.conf';
export const crioDropIns = '/etc/crio/crio.conf.d';
export const crioSocket = '/var/run/crio/crio.sock';

/** What a running CRI-O works with. */
export interface LiveCrio {
  runtimes: Record<string, { path: string; type: string }>;
  defaultRuntime: string;
  /** `[crio.runtime]` as it was merged, less its runtimes. */
  settings: Table;
}

/** Reads crio.conf and then its drop-ins in order of name; a handler that cannot be used is left out. */
export function startCrio(machine: Machine): Started {
  if (!findProgram(machine, 'crio')) return { ok: false, log: 'crio: Failed at step EXEC' };
  const listed = machine.files.list(crioDropIns);
  const dropIns = listed.ok ? listed.value.map(({ name }) => `${crioDropIns}/${name}`) : [];
  const runtimes: LiveCrio['runtimes'] = { crun: { path: '/usr/bin/crun', type: 'oci' } };
  let settings: Table = {};
  for (const path of [crioConfigPath, ...dropIns]) {
    const text = machine.files.text(path);
    if (text === undefined) continue;
    const parsed = parseToml(text);
    if (!parsed.ok) return fatal(`unable to decode configuration file ${path}: toml: ${parsed.error}`);
    const { runtimes: tables, ...rest } = tableOf(tableOf(tableOf(parsed.value).crio).runtime);
    settings = { ...settings, ...rest };
    for (const [name, table] of Object.entries(tableOf(tables))) {
      const { runtime_path, runtime_type } = tableOf(table);
      const stated = typeof runtime_path === 'string' && runtime_path !== '' ? runtime_path : null;
      runtimes[name] = {
        path: stated ?? findProgram(machine, name) ?? '',
        type: typeof runtime_type === 'string' && runtime_type !== '' ? runtime_type : 'oci',
      };
    }
  }
  const { default_runtime, ...others } = settings;
  const defaultRuntime = typeof default_runtime === 'string' && default_runtime !== '' ? default_runtime : 'crun';
  for (const [name, { path }] of Object.entries(runtimes)) if (!machine.files.has(path)) delete runtimes[name];
  if (!(defaultRuntime in runtimes))
    return fatal(
      `validating runtime config: default_runtime set to "${defaultRuntime}", but no runtime entry was found`,
    );
  machine.live.crio = { runtimes, defaultRuntime, settings: others };
  return { ok: true };
}

function fatal(why: string): Started {
  return { ok: false, log: `level=fatal msg="${why.replaceAll('"', '\\"')}"` };
}
