import { byName } from '../containerd/parse-containerd-config.ts';
import type { RuntimeEntry } from '../fact.ts';
import { parseToml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, stringsAt, type Tree, textAt, treeAt } from '../values.ts';
import type { CrioFact, CrioSetting } from './fact.ts';

/** What one file of CRI-O states; null: it does not. */
export interface CrioConfig {
  runtimes: RuntimeEntry[];
  defaultRuntime: string | null;
  cgroupManager: string | null;
  cdiSpecDirs: string[] | null;
  /** The tables of the handlers, as stated. */
  tables: Record<string, Tree>;
}

/** crio.conf, a drop-in, or what `crio status config` prints. */
export function parseCrioConfig(text: string): Parsed<CrioConfig> {
  const document = parseToml(text);
  if (!document.ok) return unread(`not_toml: ${document.error}`);
  const runtime = treeAt(document.value, 'crio', 'runtime');
  const named = treeAt(runtime, 'runtimes') ?? {};
  const runtimes = Object.entries(named).map(([name, table]) => ({
    name,
    binary: textAt(table, 'runtime_path'),
    type: textAt(table, 'runtime_type'),
    systemdCgroup: null,
  }));
  const value = {
    runtimes: runtimes.sort(byName),
    defaultRuntime: textAt(runtime, 'default_runtime'),
    cgroupManager: textAt(runtime, 'cgroup_manager'),
    cdiSpecDirs: at(runtime, 'cdi_spec_dirs') === undefined ? null : stringsAt(runtime, 'cdi_spec_dirs'),
    tables: Object.fromEntries(Object.keys(named).map((name) => [name, treeAt(named, name) ?? {}])),
  };
  return { value, unreadable: [] };
}

/** Later files win, each handler as a whole; the built-in one is there beside those that are stated. */
export function mergeCrioConfigs(
  configs: readonly CrioConfig[],
  version: string | null,
): Pick<CrioFact, 'runtimes' | 'defaultRuntime' | 'cgroupManager' | 'cdiSpecDirs' | 'model'> {
  const builtIn = builtInRuntime(version);
  const runtimes = new Map<string, RuntimeEntry>([
    [builtIn, { name: builtIn, binary: null, type: 'oci', systemdCgroup: null }],
  ]);
  for (const entry of configs.flatMap((config) => config.runtimes)) runtimes.set(entry.name, entry);
  const last = <K extends 'defaultRuntime' | 'cgroupManager' | 'cdiSpecDirs'>(key: K) =>
    configs.findLast((config) => config[key] !== null)?.[key] ?? null;
  const defaultRuntime = last('defaultRuntime') ?? builtIn;
  return {
    runtimes: [...runtimes.values()].sort(byName),
    defaultRuntime,
    cgroupManager: last('cgroupManager') ?? 'systemd',
    cdiSpecDirs: last('cdiSpecDirs'),
    model: modelOf(configs, [defaultRuntime, 'runc', 'crun']),
  };
}

/** The first of these that some file states and that is a plain OCI runtime: not NVIDIA's own, not a sandbox. */
function modelOf(configs: readonly CrioConfig[], names: readonly string[]): CrioFact['model'] {
  for (const name of names) {
    const table = configs.findLast(({ tables }) => Object.hasOwn(tables, name))?.tables[name];
    if (table === undefined || name.startsWith('nvidia')) continue;
    if (![null, 'oci'].includes(textAt(table, 'runtime_type'))) continue;
    const { runtime_path: _program, ...others } = table;
    const settings = Object.entries(others).flatMap(([key, value]): [string, CrioSetting][] =>
      isSetting(value) ? [[key, typeof value === 'bigint' ? Number(value) : value]] : [],
    );
    return { name, settings: Object.fromEntries(settings) };
  }
  return null;
}

function isSetting(value: unknown): value is CrioSetting | bigint {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return ['string', 'boolean', 'number', 'bigint'].includes(typeof value);
}

/** crun took runc's place with 1.31. */
function builtInRuntime(version: string | null): string {
  const match = /^(\d+)\.(\d+)/.exec(version ?? '');
  return match && Number(match[1]) === 1 && Number(match[2]) < 31 ? 'runc' : 'crun';
}

/** `crio --version`: `crio version 1.30.4` on the first line. */
export function parseCrioVersion(text: string): string | null {
  return /^crio version v?(\d+\.\d+\S*)/m.exec(text)?.[1] ?? /^Version:\s+v?(\d+\.\d+\S*)/m.exec(text)?.[1] ?? null;
}
