import type { ContainerdFact, ContainerdLayer } from '../../probes/containerd/fact.ts';
import { isOlderThan, versionParts } from '../../probes/versions.ts';

export const criPlugin = { v1: 'cri', v2: 'io.containerd.grpc.v1.cri', v3: 'io.containerd.cri.v1.runtime' } as const;

export const criPluginNames: readonly string[] = [...Object.values(criPlugin), 'io.containerd.cri.v1.images'];

/** One file as this containerd reads it, or will read it once what keeps it from starting is mended. */
export interface Layer extends ContainerdLayer {
  /** The section in which this release looks for the runtimes of a file of this version. */
  criPlugin: string;
}

/** A file to edit, with the schema that its keys must follow. */
export interface Home {
  layer: Layer;
  schema: number;
  baseSha256: string | null;
  /** The file gets its `version` from us: it is missing or says nothing. */
  isNew: boolean;
}

export interface ContainerdRules {
  /** Before 2.0 a stated `runtimes` table replaces the built-in runc. Unknown versions are taken for the strict one. */
  losesBuiltInRunc: boolean;
  /** Before 2.1 an imported file replaces a plugin's whole section. */
  mergesPlugins: boolean;
  newSchema: number;
  /** 4 came with 2.3, and has the CRI plugin where 3 has it. */
  maxSchema: number;
  /** From 2.3 on a file may not import one of a newer schema. */
  refusesNewerImports: boolean;
  hasCdiOn: boolean;
}

export function rulesOf(version: string | null): ContainerdRules {
  const major = versionParts(version)?.[0] ?? null;
  const isTwo = major !== null && major >= 2;
  const hasFour = isTwo && !isOlderThan(version, [2, 3]);
  return {
    losesBuiltInRunc: !isTwo,
    mergesPlugins: isTwo && !isOlderThan(version, [2, 1]),
    newSchema: isTwo ? 3 : 2,
    maxSchema: hasFour ? 4 : isTwo ? 3 : 2,
    refusesNewerImports: hasFour,
    hasCdiOn: isTwo,
  };
}

/** The files as they stand; null: which of them holds what is not told. */
export function toldLayers(containerd: ContainerdFact): readonly ContainerdLayer[] | null {
  if (containerd.layers) return containerd.layers;
  const root = containerd.files[0];
  if (!root?.present || !containerd.rootConfig) return [];
  // Without layers only a root file that stands alone is understood.
  if (containerd.files.length > 1) return null;
  const { schema, runtimes, defaultRuntime, enableCdi, disabledPlugins } = containerd.rootConfig;
  const hasCri = runtimes.length > 0 || defaultRuntime !== null || enableCdi !== null;
  const told = { path: root.path, version: schema, empty: false, hasCri, runtimes, defaultRuntime, enableCdi };
  return [{ ...told, disabledPlugins }];
}

/** All files are read under one name: that of the schema which their versions come to. */
export function toLayers(layers: readonly ContainerdLayer[], rules: ContainerdRules): Layer[] {
  const plugin = pluginOf(mergedSchema(layers, rules));
  // 2.x moves the sections of schema 2 over to new names, and what some file has there already wins.
  const isMoved = ({ plugins = [], misplaced = [] }: ContainerdLayer) =>
    misplaced.length > 0 && plugins.includes(criPlugin.v3);
  const isRead = !rules.losesBuiltInRunc && plugin === criPlugin.v2 && layers.some(isMoved) ? criPlugin.v3 : plugin;
  return layers.map((layer) => toLayer(layer, isRead));
}

/** 1.x goes by the last file that states a version, 2.x by the newest one. */
function mergedSchema(layers: readonly ContainerdLayer[], rules: ContainerdRules): number {
  const stated = layers.flatMap(({ version }) => version || []);
  return (rules.losesBuiltInRunc ? stated.at(-1) : Math.max(1, ...stated)) ?? 1;
}

/** Of a section under another name than that of the file's own version only the names of its runtimes are told. */
function toLayer(layer: ContainerdLayer, plugin: string): Layer {
  if (layer.empty || plugin === pluginOf(layer.version ?? 1)) return { ...layer, criPlugin: plugin };
  const { plugins = [], misplaced = [] } = layer;
  const unread = { defaultRuntime: null, enableCdi: null };
  if (!plugins.includes(plugin)) return { ...layer, ...unread, hasCri: false, runtimes: [], criPlugin: plugin };
  const runtimes = misplaced.map((name) => ({ name, binary: null, type: null, systemdCgroup: null }));
  return { ...layer, ...unread, hasCri: true, runtimes, criPlugin: plugin };
}

export function pluginOf(schema: number): string {
  return schema >= 3 ? criPlugin.v3 : schema === 2 ? criPlugin.v2 : criPlugin.v1;
}

/**
 * containerd 2 passes over the runtimes of files that are all of schema 1. One that has no section of any plugin loses
 * nothing by a newer version; what its other settings mean stays the same.
 */
export function isRaised(containerd: ContainerdFact, layer: ContainerdLayer): boolean {
  const { plugins, disabledPlugins, requiredPlugins = [] } = layer;
  // A newer version wants full names.
  const hasFullNames = requiredPlugins.every((name) => name.includes('.'));
  const isPlain =
    plugins?.length === 0 && disabledPlugins.every((name) => criPluginNames.includes(name)) && hasFullNames;
  return !layer.empty && isPlain && losesSchema1(containerd) && toldLayers(containerd)?.length === 1;
}

/** Nothing that a job writes into these files would be read. */
export function losesSchema1({ version, effective, files }: ContainerdFact): boolean {
  return rulesOf(version).newSchema === 3 && files[0]?.present === true && (effective?.schema ?? 2) <= 1;
}

export function toHome(containerd: ContainerdFact, layer: Layer | undefined, path: string, schema: number): Home {
  const file = containerd.files.find((candidate) => candidate.path === path);
  const baseSha256 = file?.present ? file.sha256 : null;
  if (layer && isRaised(containerd, layer))
    return { layer: { ...layer, criPlugin: pluginOf(schema) }, schema, baseSha256, isNew: true };
  if (layer && !layer.empty) return { layer, schema: layer.version ?? 1, baseSha256, isNew: false };
  const empty = { version: null, empty: true, hasCri: false, runtimes: [], defaultRuntime: null, enableCdi: null };
  const blank: Layer = { path, ...empty, disabledPlugins: [], criPlugin: pluginOf(schema) };
  return { layer: blank, schema, baseSha256, isNew: true };
}

/** The file whose CRI section counts for a runtime of this name; undefined: none has one. */
export function owningLayer(layers: readonly Layer[], name: string, rules: ContainerdRules): Layer | undefined {
  if (!rules.mergesPlugins) return layers.findLast((layer) => layer.hasCri);
  return layers.findLast((layer) => layer.runtimes.some((runtime) => runtime.name === name));
}

export function criPath({ layer }: Home): string[] {
  return ['plugins', layer.criPlugin];
}

export interface Merged {
  defaultRuntime: string;
  enableCdi: boolean;
  disabledPlugins: string[];
}

/** What the files come to: as the probe derived it, or from the files one by one where they are yet to be mended. */
export function mergedOf(containerd: ContainerdFact, layers: readonly Layer[], rules: ContainerdRules): Merged {
  if (containerd.effective) {
    const { defaultRuntime, enableCdi, disabledPlugins } = containerd.effective;
    return { defaultRuntime: defaultRuntime ?? 'runc', enableCdi: enableCdi ?? false, disabledPlugins };
  }
  const counting = rules.mergesPlugins ? layers : layers.filter(({ hasCri }) => hasCri).slice(-1);
  return {
    defaultRuntime: counting.findLast((layer) => layer.defaultRuntime !== null)?.defaultRuntime ?? 'runc',
    enableCdi: counting.findLast((layer) => layer.enableCdi !== null)?.enableCdi ?? rules.hasCdiOn,
    disabledPlugins: [...new Set(layers.flatMap((layer) => layer.disabledPlugins))],
  };
}
