import { byName } from '../containerd/parse-containerd-config.ts';
import type { RuntimeEntry } from '../fact.ts';
import { parseToml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, stringsAt, textAt, treeAt } from '../values.ts';

/** What one file of CRI-O states; null: it does not. */
export interface CrioConfig {
  runtimes: RuntimeEntry[];
  defaultRuntime: string | null;
  cgroupManager: string | null;
  cdiSpecDirs: string[] | null;
}

/** crio.conf, a drop-in, or what `crio status config` prints. */
export function parseCrioConfig(text: string): Parsed<CrioConfig> {
  const document = parseToml(text);
  if (!document.ok) return unread(`not_toml: ${document.error}`);
  const runtime = treeAt(document.value, 'crio', 'runtime');
  const runtimes = Object.entries(treeAt(runtime, 'runtimes') ?? {}).map(([name, table]) => ({
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
  };
  return { value, unreadable: [] };
}

/** Later files win, each handler as a whole; the built-in one is there beside those that are stated. */
export function mergeCrioConfigs(configs: readonly CrioConfig[], version: string | null): CrioConfig {
  const builtIn = builtInRuntime(version);
  const runtimes = new Map<string, RuntimeEntry>([
    [builtIn, { name: builtIn, binary: null, type: 'oci', systemdCgroup: null }],
  ]);
  for (const entry of configs.flatMap((config) => config.runtimes)) runtimes.set(entry.name, entry);
  const last = <K extends 'defaultRuntime' | 'cgroupManager' | 'cdiSpecDirs'>(key: K) =>
    configs.findLast((config) => config[key] !== null)?.[key] ?? null;
  return {
    runtimes: [...runtimes.values()].sort(byName),
    defaultRuntime: last('defaultRuntime') ?? builtIn,
    cgroupManager: last('cgroupManager') ?? 'systemd',
    cdiSpecDirs: last('cdiSpecDirs'),
  };
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
