import { parseToml } from '@gpufleet/shared/probes';
import type { FileTree } from '../file-tree.ts';

export type Table = { [key: string]: unknown };

/** A containerd configuration as the daemon would use it, or the line with which it refuses. */
export type LoadedConfig = { ok: true; root: Table; schema: number; plugins: Table } | { ok: false; log: string };

export const criV2 = 'io.containerd.grpc.v1.cri';
export const criV3 = 'io.containerd.cri.v1.runtime';

/** Reads a root file and its imports and merges them as containerd of this major version does. */
export function loadContainerdConfig(
  files: FileTree,
  path: string,
  major: number,
  options: { fileRequired: boolean },
): LoadedConfig {
  const read = readFile(files, path, major);
  if (!read.ok) {
    const missing = files.text(path) === undefined;
    if (!missing || options.fileRequired) return read;
    return { ok: true, root: {}, schema: major >= 2 ? 3 : 2, plugins: {} };
  }
  const queue = importsOf(files, path, read.table, major);
  if (!queue.ok) return queue;
  let root = read.table;
  const seen = new Set([path]);
  for (const next of queue.paths) {
    if (seen.has(next)) continue;
    seen.add(next);
    const imported = readFile(files, next, major);
    if (!imported.ok) return imported;
    const further = importsOf(files, next, imported.table, major);
    if (!further.ok) return further;
    queue.paths.push(...further.paths);
    root = merge(root, imported.table, major);
  }
  const schema = versionOf(root);
  return { ok: true, root, schema, plugins: tableOf(root.plugins) };
}

function readFile(
  files: FileTree,
  path: string,
  major: number,
): { ok: true; table: Table } | { ok: false; log: string } {
  const text = files.text(path);
  if (text === undefined) {
    return { ok: false, log: `containerd: failed to load TOML: ${path}: open ${path}: no such file or directory` };
  }
  // 2.x takes no byte order mark; 1.x does.
  if (major >= 2 && text.startsWith('\uFEFF')) {
    return { ok: false, log: 'containerd: failed to unmarshal TOML at row 1 column 1: toml: invalid character' };
  }
  const parsed = parseToml(text);
  if (!parsed.ok) {
    const log =
      major >= 2
        ? `containerd: failed to unmarshal TOML: toml: ${parsed.error}`
        : `containerd: failed to load TOML: ${path}: ${parsed.error}`;
    return { ok: false, log };
  }
  const table = tableOf(parsed.value);
  // Integers are bigints: a number is a float, which containerd does not take.
  if ('version' in table && typeof table.version !== 'bigint') {
    return { ok: false, log: "containerd: failed to unmarshal TOML: (1, 1): Can't convert version to int" };
  }
  const version = versionOf(table);
  const newest = major >= 2 ? 3 : 2;
  if (version > newest) {
    const why =
      major >= 2
        ? `expected containerd config version equal to or less than \`3\`, got \`${version}\``
        : `unsupported config version \`${version}\``;
    return { ok: false, log: `containerd: failed to load TOML from ${path}: ${why}` };
  }
  if ('plugins' in table && (typeof table.plugins !== 'object' || table.plugins === null)) {
    const log = "containerd: failed to unmarshal TOML: Can't convert to map[string]toml.Tree(map)";
    return { ok: false, log };
  }
  // Tables of a drop-in are named by its own version; the daemon brings all to one naming before it merges.
  return { ok: true, table: { ...table, plugins: migrate(tableOf(table.plugins), version, major) } };
}

function versionOf(table: Table): number {
  return typeof table.version === 'bigint' ? Number(table.version) : 1;
}

/** Brings the CRI runtime section to the name that this major version works with. */
function migrate(plugins: Table, version: number, major: number): Table {
  const { cri, [criV2]: v2, [criV3]: v3, ...rest } = plugins;
  // 2.x gives the section of a schema 1 file its full name and finds no runtimes in it.
  if (version === 1 && major >= 2) return cri === undefined ? rest : { ...rest, [criV2]: cri };
  const section = version === 1 ? cri : version === 2 ? v2 : v3;
  if (section === undefined) return version === 3 && v2 !== undefined ? { ...rest, [criV2]: v2 } : rest;
  const key = major >= 2 ? criV3 : criV2;
  return { ...rest, [key]: section };
}

function importsOf(
  files: FileTree,
  path: string,
  table: Table,
  major: number,
): { ok: true; paths: string[] } | { ok: false; log: string } {
  const paths: string[] = [];
  for (const raw of Array.isArray(table.imports) ? table.imports.map(String) : []) {
    const absolute = raw.startsWith('/') ? raw : `${path.slice(0, path.lastIndexOf('/'))}/${raw}`;
    if (!absolute.includes('*')) {
      // 2.x treats every entry as a pattern, which may match nothing; 1.x opens an exact name.
      if (files.has(absolute) || major < 2) paths.push(absolute);
      continue;
    }
    const folder = absolute.slice(0, absolute.lastIndexOf('/'));
    const pattern = absolute
      .slice(folder.length + 1)
      .split('*')
      .map(escapeRegExp)
      .join('[^/]*');
    const listed = files.list(folder);
    if (!listed.ok) continue;
    const matching = listed.value.filter(({ name }) => new RegExp(`^${pattern}$`).test(name));
    paths.push(...matching.map(({ name }) => `${folder}/${name}`));
  }
  return { ok: true, paths };
}

/** 1.x replaces a plugin's whole section by the import's; 2.x merges the tables. */
function merge(root: Table, imported: Table, major: number): Table {
  const merged: Table = { ...root };
  for (const [key, value] of Object.entries(imported)) {
    if (key === 'plugins') {
      const [a, b] = [tableOf(root.plugins), tableOf(value)];
      merged.plugins = major >= 2 ? deepMerge(a, b) : { ...a, ...b };
    } else if (key === 'version') merged.version = BigInt(Math.max(versionOf(root), versionOf(imported)));
    else if (Array.isArray(value) && Array.isArray(root[key])) merged[key] = [...(root[key] as unknown[]), ...value];
    else merged[key] = value;
  }
  return merged;
}

function deepMerge(a: Table, b: Table): Table {
  const merged: Table = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = merged[key];
    merged[key] = isTable(mine) && isTable(value) ? deepMerge(mine, value) : value;
  }
  return merged;
}

export function tableOf(value: unknown): Table {
  return isTable(value) ? value : {};
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}
