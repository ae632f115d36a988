import type { ContainerdFact, ContainerdLayer } from '../../probes/containerd/fact.ts';
import { isOlderThan, versionParts } from '../version-parts.ts';

/** Where each schema keeps the settings of the CRI plugin. */
const pluginNames: Record<number, string> = {
  1: 'cri',
  2: 'io.containerd.grpc.v1.cri',
  3: 'io.containerd.cri.v1.runtime',
};

export const criPluginNames = [
  'cri',
  'io.containerd.grpc.v1.cri',
  'io.containerd.cri.v1.runtime',
  'io.containerd.cri.v1.images',
];

/** A file to edit, with the schema that its keys must follow. */
export interface Home {
  layer: ContainerdLayer;
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
  maxSchema: number;
}

export function rulesOf(version: string | null): ContainerdRules {
  const major = versionParts(version)?.[0] ?? null;
  return {
    losesBuiltInRunc: major === null || major < 2,
    mergesPlugins: major !== null && !isOlderThan(version, [2, 1]),
    newSchema: major !== null && major >= 2 ? 3 : 2,
    maxSchema: major !== null && major >= 2 ? 3 : 2,
  };
}

export function layersOf(containerd: ContainerdFact): ContainerdLayer[] | null {
  if (containerd.layers) return containerd.layers;
  const root = containerd.files[0];
  if (!root?.present || !containerd.rootConfig) return [];
  // Without layers only a root file that stands alone is understood.
  if (containerd.files.length > 1) return null;
  const { schema, runtimes, defaultRuntime, enableCdi, disabledPlugins } = containerd.rootConfig;
  const hasCri = runtimes.length > 0 || defaultRuntime !== null || enableCdi !== null;
  return [
    { path: root.path, version: schema, empty: false, hasCri, runtimes, defaultRuntime, enableCdi, disabledPlugins },
  ];
}

/**
 * containerd 2 passes over the runtimes of files that are all of schema 1. One that has no section of any plugin loses
 * nothing by a newer version; what its other settings mean stays the same.
 */
export function isRaised(containerd: ContainerdFact, layer: ContainerdLayer): boolean {
  const isPlain =
    layer.plugins?.length === 0 && layer.disabledPlugins.every((plugin) => criPluginNames.includes(plugin));
  return !layer.empty && isPlain && losesSchema1(containerd) && layersOf(containerd)?.length === 1;
}

/** Nothing that a job writes into these files would be read. */
export function losesSchema1({ version, effective, files }: ContainerdFact): boolean {
  return rulesOf(version).newSchema === 3 && files[0]?.present === true && effective?.schema === 1;
}

export function toHome(
  containerd: ContainerdFact,
  layer: ContainerdLayer | undefined,
  path: string,
  schema: number,
): Home {
  const file = containerd.files.find((candidate) => candidate.path === path);
  const baseSha256 = file?.present ? file.sha256 : null;
  if (layer && isRaised(containerd, layer)) return { layer, schema, baseSha256, isNew: true };
  if (layer && !layer.empty) return { layer, schema: layer.version ?? 1, baseSha256, isNew: false };
  const empty = { version: null, empty: true, hasCri: false, runtimes: [], defaultRuntime: null, enableCdi: null };
  return { layer: { path, ...empty, disabledPlugins: [] }, schema, baseSha256, isNew: true };
}

/** The file whose CRI section counts for a runtime of this name; undefined: none has one. */
export function owningLayer(
  layers: ContainerdLayer[],
  name: string,
  rules: ContainerdRules,
): ContainerdLayer | undefined {
  if (!rules.mergesPlugins) return layers.findLast((layer) => layer.hasCri);
  return layers.findLast((layer) => layer.runtimes.some((runtime) => runtime.name === name));
}

export function criPath(home: Home): string[] {
  return ['plugins', pluginNames[home.schema] ?? 'cri'];
}
