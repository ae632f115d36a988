import type { RuntimeEntry } from '../fact.ts';
import { type Parsed, unread } from '../parsed.ts';
import { booleanAt, isTree, type Tree, textAt, treeAt } from '../values.ts';
import type { ContainerdConfig } from './fact.ts';
import { byName, type ContainerdFile, criPlugin, toRuntimes } from './parse-containerd-config.ts';

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

/**
 * What a containerd of this version runs with: its built-in settings, the root file, then each import in the order
 * read. No files: the built-in settings alone. null when this containerd would refuse to start.
 */
export function deriveEffectiveConfig(
  files: readonly ContainerdFile[],
  version: string | null,
): Parsed<ContainerdConfig> {
  const root = files[0];
  const schema = root === undefined ? (/^v?1\./.test(version ?? '') ? 2 : 3) : (root.version ?? 1);
  const rules = rulesOf(version, schema);
  if (files.some((file) => (file.version ?? 1) > rules.maxSchema)) return unread('schema_not_supported');
  const newest = Math.max(...files.map((file) => file.version ?? 0), 0);
  if (rules.maxSchema === 4 && root !== undefined && newest > (root.version ?? 1))
    return unread('import_has_newer_schema');

  let plugins: Tree = {};
  for (const file of files)
    plugins = rules.mergesPlugins ? mergeTrees(plugins, file.plugins) : { ...plugins, ...file.plugins };
  const section = criSectionOf(plugins, schema, rules);
  const stated = toRuntimes(section);
  const hasTable = treeAt(section, 'containerd', 'runtimes') !== undefined;
  const keepsRunc = rules.keepsBuiltInRunc || !hasTable;
  const runtimes = new Map<string, RuntimeEntry>(keepsRunc ? [['runc', builtInRunc]] : []);
  for (const entry of stated) {
    const built = runtimes.get(entry.name);
    runtimes.set(entry.name, built ? { ...entry, type: entry.type ?? built.type } : entry);
  }
  const value = {
    schema,
    imports: unique(files.flatMap((file) => file.imports)),
    disabledPlugins: unique(files.flatMap((file) => file.disabledPlugins)),
    runtimes: [...runtimes.values()].sort(byName),
    defaultRuntime: textAt(section, 'containerd', 'default_runtime_name') ?? 'runc',
    enableCdi: rules.enableCdi === null ? null : (booleanAt(section, 'enable_cdi') ?? rules.enableCdi),
  };
  return { value, unreadable: version === null ? [{ path: '', because: 'version_unknown' }] : [] };
}

/** The settings that the CRI plugin is given: each schema has its own name for it, and 2.x moves old ones over. */
function criSectionOf(plugins: Tree, schema: number, rules: Rules): Tree {
  const v1 = treeAt(plugins, criPlugin.v1) ?? {};
  const v2 = treeAt(plugins, criPlugin.v2) ?? {};
  const v3 = treeAt(plugins, criPlugin.v3) ?? {};
  if (!rules.keepsBuiltInRunc) return schema <= 1 ? v1 : v2;
  if (schema >= 3) return v3;
  // What already stands under the new name wins over what is moved there.
  return { ...(schema <= 1 ? { ...v1, ...v2 } : v2), ...v3 };
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
