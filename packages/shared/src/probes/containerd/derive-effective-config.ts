import type { RuntimeEntry } from '../fact.ts';
import { type Parsed, unread } from '../parsed.ts';
import { booleanAt, isTree, type Tree, textAt, treeAt } from '../values.ts';
import type { ContainerdConfig } from './fact.ts';
import { byName, type ContainerdFile, cdiSpecDirsOf, criPlugin, toRuntimes } from './parse-containerd-config.ts';

/** The rules by which releases differ, from measurements with containerd 1.6, 1.7 and 2.1. */
interface Rules {
  maxSchema: number;
  /** Before 2.1 an imported file replaces a plugin's whole section; since then tables are merged. */
  mergesPlugins: boolean;
  /** Before 2.0 a stated `runtimes` table replaces the built-in runc; since then it is added to it. */
  keepsBuiltInRunc: boolean;
  enableCdi: boolean | null;
}

const builtInRunc: RuntimeEntry = { name: 'runc', binary: null, type: 'io.containerd.runc.v2', systemdCgroup: null };

function rulesOf(version: string | null, schema: number): Rules {
  const match = /^v?(\d+)\.(\d+)/.exec(version ?? '');
  const [major, minor] = match ? [Number(match[1]), Number(match[2])] : schema >= 3 ? [2, 1] : [1, 7];
  if (major < 2) {
    // 1.6 takes a newer schema without complaint and finds nothing of its own in it.
    const maxSchema = minor < 7 ? Number.POSITIVE_INFINITY : 2;
    return { maxSchema, mergesPlugins: false, keepsBuiltInRunc: false, enableCdi: minor < 7 ? null : false };
  }
  const newest = major > 2 || minor >= 3;
  return {
    maxSchema: newest ? 4 : 3,
    mergesPlugins: major > 2 || minor >= 1,
    keepsBuiltInRunc: true,
    enableCdi: true,
  };
}

/** By Kubernetes' convention, and built into every release that has CDI. */
const builtInSpecDirs = ['/etc/cdi', '/var/run/cdi'];

/**
 * What a containerd of this version runs with: its built-in settings, the root file, then each import in the order
 * read. No files: the built-in settings alone. null when this containerd would refuse to start.
 */
export function deriveEffectiveConfig(
  files: readonly ContainerdFile[],
  version: string | null,
): Parsed<ContainerdConfig> {
  const isOne = /^v?1\./.test(version ?? '');
  const root = files[0];
  const rules = rulesOf(version, newestSchema(files));
  const schema = root === undefined ? (isOne ? 2 : 3) : mergedSchema(files, rules);
  const merged = mergeFiles(files, rules);
  const refused = whyRefused(files, merged, schema, rules);
  if (refused !== null) return unread(refused);

  const section = criSectionOf(merged.plugins, schema, rules);
  const hasTable = treeAt(section, 'containerd', 'runtimes') !== undefined;
  const keepsRunc = rules.keepsBuiltInRunc || !hasTable;
  const runtimes = new Map<string, RuntimeEntry>(keepsRunc ? [['runc', builtInRunc]] : []);
  for (const entry of toRuntimes(section)) {
    const built = runtimes.get(entry.name);
    runtimes.set(entry.name, built ? { ...entry, type: entry.type ?? built.type } : entry);
  }
  const value = {
    schema,
    imports: unique(files.flatMap((file) => file.imports)),
    disabledPlugins: merged.disabledPlugins,
    runtimes: [...runtimes.values()].sort(byName),
    defaultRuntime: textAt(section, 'containerd', 'default_runtime_name') ?? 'runc',
    enableCdi: rules.enableCdi === null ? null : (booleanAt(section, 'enable_cdi') ?? rules.enableCdi),
    cdiSpecDirs: rules.enableCdi === null ? null : (cdiSpecDirsOf(section) ?? builtInSpecDirs),
  };
  return { value, unreadable: version === null ? [{ path: '', because: 'version_unknown' }] : [] };
}

function newestSchema(files: readonly ContainerdFile[]): number {
  return Math.max(...files.map((file) => file.version ?? 1), 0);
}

/** 1.x goes by the last file that states a version, 2.x by the newest one. */
function mergedSchema(files: readonly ContainerdFile[], rules: Rules): number {
  if (rules.keepsBuiltInRunc) return newestSchema(files);
  return files.reduce<number>((schema, file) => file.version || schema, 1);
}

interface Merged {
  plugins: Tree;
  disabledPlugins: string[];
  requiredPlugins: string[];
}

function mergeFiles(files: readonly ContainerdFile[], rules: Rules): Merged {
  let plugins: Tree = {};
  for (const file of files) {
    const own = rules.keepsBuiltInRunc ? withFullName(file) : file.plugins;
    plugins = rules.mergesPlugins ? mergeTrees(plugins, own) : { ...plugins, ...own };
  }
  const all = (list: (file: ContainerdFile) => string[]) => unique(files.flatMap(list));
  return {
    plugins,
    disabledPlugins: all((file) => file.disabledPlugins),
    requiredPlugins: all((file) => file.requiredPlugins),
  };
}

/** 2.x gives the section of a schema 1 file its full name before it merges. */
function withFullName({ version, plugins }: ContainerdFile): Tree {
  const { [criPlugin.v1]: cri, ...others } = plugins;
  return (version ?? 1) > 1 || cri === undefined ? plugins : { [criPlugin.v2]: cri, ...others };
}

/** Why a containerd of these rules does not start with these files. */
function whyRefused(files: readonly ContainerdFile[], merged: Merged, schema: number, rules: Rules): string | null {
  const root = files[0];
  if (rules.keepsBuiltInRunc && files.some((file) => file.hasByteOrderMark)) return 'byte_order_mark';
  const tooNew = rules.keepsBuiltInRunc ? newestSchema(files) : schema;
  if (tooNew > rules.maxSchema) return 'schema_not_supported';
  if (rules.maxSchema === 4 && root !== undefined && newestSchema(files) > (root.version ?? 1))
    return 'import_has_newer_schema';
  return namesAreFull(files, merged, schema, rules) ? null : 'short_plugin_name';
}

/** Since schema 2 every plugin is named in full, and a short name ends the daemon. */
function namesAreFull(files: readonly ContainerdFile[], merged: Merged, schema: number, rules: Rules): boolean {
  const isFull = (name: string) => /^io\.containerd\.[^.]*\./.test(name);
  // 2.x brings each file to full names before it merges, and does not mind the names of sections.
  if (rules.keepsBuiltInRunc)
    return files
      .filter((file) => (file.version ?? 1) >= 2)
      .every((file) => [...file.disabledPlugins, ...file.requiredPlugins].every(isFull));
  if (schema < 2) return true;
  return [...merged.disabledPlugins, ...merged.requiredPlugins, ...Object.keys(merged.plugins)].every(isFull);
}

/** The settings that the CRI plugin is given: each schema has its own name for it, and 2.x moves those of schema 2 over. */
function criSectionOf(plugins: Tree, schema: number, rules: Rules): Tree {
  const v1 = treeAt(plugins, criPlugin.v1) ?? {};
  const v2 = treeAt(plugins, criPlugin.v2) ?? {};
  const v3 = treeAt(plugins, criPlugin.v3) ?? {};
  if (!rules.keepsBuiltInRunc) return schema <= 1 ? v1 : v2;
  // Where all files are of schema 1, 2.x takes over nothing that concerns runtimes, and says so only in a warning.
  if (schema !== 2) return v3;
  // What already stands under the new name wins over what is moved there.
  return { ...v2, ...v3 };
}

function mergeTrees(base: Tree, over: Tree): Tree {
  const merged: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = isTree(before) && isTree(value) ? mergeTrees(before, value) : value;
  }
  return merged;
}

function unique(list: string[]): string[] {
  return [...new Set(list)];
}
