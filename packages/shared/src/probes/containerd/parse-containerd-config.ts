import type { RuntimeEntry } from '../fact.ts';
import { parseToml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringsAt, type Tree, textAt, treeAt } from '../values.ts';
import type { ContainerdConfig, ContainerdLayer } from './fact.ts';

/** Where each schema keeps the settings of the CRI plugin. */
export const criPlugin = { v1: 'cri', v2: 'io.containerd.grpc.v1.cri', v3: 'io.containerd.cri.v1.runtime' } as const;

/** One configuration file as parsed, before any import. */
export interface ContainerdFile {
  /** As stated; null without a `version` key, which means schema 1. */
  version: number | null;
  imports: string[];
  disabledPlugins: string[];
  requiredPlugins: string[];
  plugins: Tree;
  /** Top-level `root` and the socket's address, where stated. */
  root: string | null;
  address: string | null;
  /** It begins with a byte order mark, which 2.x does not take. */
  hasByteOrderMark: boolean;
}

/** TOML of any schema. A Go template (k3s, rke2, microk8s keep some) is told apart from a broken file. */
export function parseContainerdFile(text: string): Parsed<ContainerdFile> {
  const document = parseToml(text);
  if (!document.ok) return unread(text.includes('{{') ? `template: ${document.error}` : `not_toml: ${document.error}`);
  const version = at(document.value, 'version');
  // containerd refuses to start on these, as it does on broken TOML.
  if (version !== undefined && typeof version !== 'bigint') return unread('version_not_an_integer');
  const plugins = at(document.value, 'plugins');
  if (plugins !== undefined && !isTree(plugins)) return unread('plugins_not_a_table');
  for (const key of ['imports', 'disabled_plugins', 'required_plugins']) {
    const list = at(document.value, key);
    const isList = Array.isArray(list) && list.every((item) => typeof item === 'string');
    if (list !== undefined && !isList) return unread(`${key}_not_a_list_of_texts`);
  }
  const value = {
    version: version === undefined ? null : Number(version),
    imports: stringsAt(document.value, 'imports'),
    disabledPlugins: stringsAt(document.value, 'disabled_plugins'),
    requiredPlugins: stringsAt(document.value, 'required_plugins'),
    plugins: plugins ?? {},
    root: textAt(document.value, 'root'),
    address: textAt(document.value, 'grpc', 'address'),
    hasByteOrderMark: text.startsWith('\uFEFF'),
  };
  return { value, unreadable: [] };
}

/**
 * What a file says, whoever reads it: runtimes under the plugin names of every schema. What a daemon makes of it is
 * `deriveEffectiveConfig`; a runtime that is here and not there stands under a name that this daemon does not read.
 */
export function asWritten(file: ContainerdFile): ContainerdConfig {
  const sections = Object.values(criPlugin).map((id) => treeAt(file.plugins, id) ?? {});
  const runtimes = new Map<string, RuntimeEntry>();
  for (const section of sections) for (const entry of toRuntimes(section)) runtimes.set(entry.name, entry);
  const first = <T>(look: (section: Tree) => T | null) => {
    for (const section of [...sections].reverse()) {
      const found = look(section);
      if (found !== null) return found;
    }
    return null;
  };
  return {
    schema: file.version ?? 1,
    imports: file.imports,
    disabledPlugins: file.disabledPlugins,
    runtimes: [...runtimes.values()].sort(byName),
    defaultRuntime: first((section) => textAt(section, 'containerd', 'default_runtime_name')),
    // nvidia-ctk writes the second place into schema 1 files.
    enableCdi: first((section) => booleanAt(section, 'enable_cdi') ?? booleanAt(section, 'containerd', 'enable_cdi')),
    cdiSpecDirs: first(cdiSpecDirsOf),
  };
}

/** What a file holds under the plugin name of its own schema: what a writer of that file finds there. */
export function toLayer(path: string, file: ContainerdFile, empty: boolean): ContainerdLayer {
  const id = (file.version ?? 1) >= 3 ? criPlugin.v3 : file.version === 2 ? criPlugin.v2 : criPlugin.v1;
  const section = treeAt(file.plugins, id);
  const others = Object.values(criPlugin).filter((other) => other !== id);
  return {
    path,
    version: file.version,
    empty,
    hasCri: section !== undefined,
    runtimes: section === undefined ? [] : toRuntimes(section).sort(byName),
    defaultRuntime: textAt(section, 'containerd', 'default_runtime_name'),
    enableCdi: booleanAt(section, 'enable_cdi'),
    disabledPlugins: file.disabledPlugins,
    requiredPlugins: file.requiredPlugins,
    imports: file.imports,
    cdiSpecDirs: section === undefined ? null : cdiSpecDirsOf(section),
    plugins: Object.keys(file.plugins).sort(),
    misplaced: others.flatMap((other) => toRuntimes(treeAt(file.plugins, other) ?? {})).map(({ name }) => name),
    legacyRuntime:
      textAt(section, 'containerd', 'default_runtime', 'options', 'BinaryName') ??
      textAt(section, 'containerd', 'default_runtime', 'runtime_engine') ??
      textAt(file.plugins, 'linux', 'runtime'),
  };
}

/** The runtimes of one CRI section. Schema 1 also knew `options.Runtime` for the binary. */
export function toRuntimes(section: Tree): RuntimeEntry[] {
  return Object.entries(treeAt(section, 'containerd', 'runtimes') ?? {}).map(([name, table]) => ({
    name,
    binary: textAt(table, 'options', 'BinaryName') ?? textAt(table, 'options', 'Runtime'),
    type: textAt(table, 'runtime_type'),
    systemdCgroup: booleanAt(table, 'options', 'SystemdCgroup'),
  }));
}

/** null where the section does not state them. */
export function cdiSpecDirsOf(section: Tree): string[] | null {
  return at(section, 'cdi_spec_dirs') === undefined ? null : stringsAt(section, 'cdi_spec_dirs');
}

export function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
