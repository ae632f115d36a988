import type { ContainerdFact, ContainerdLayer } from '../../probes/containerd/fact.ts';
import { reason } from '../plan-parts.ts';
import type { KeyEdit, PlanReason } from '../step.ts';
import { type ContainerdRules, criPlugin, pluginOf } from './containerd-layers.ts';

/** The files as they will be, and the edits of those that keep this containerd from starting. */
export type Mended =
  | { ok: true; layers: readonly ContainerdLayer[]; edits: ReadonlyMap<string, KeyEdit[]> }
  | { ok: false; problem: PlanReason };

/**
 * What is wrong with the versions of the files can be mended by a key of each: a drop-in above its root (which tools
 * write that go by `containerd config dump`), and plugins that are named in short. Everything else is a person's.
 */
export function mendLayers(
  containerd: ContainerdFact,
  layers: readonly ContainerdLayer[],
  rules: ContainerdRules,
): Mended {
  if (containerd.effective !== null) return { ok: true, layers, edits: new Map() };
  const unread = containerd.files.find(
    ({ path, present }, index) => (present || index > 0) && !layers.some((layer) => layer.path === path),
  );
  if (unread) return refused('config_invalid', `${unread.path} is ${unread.present ? 'not readable' : 'not there'}`);
  const root = layers[0];
  const rootSchema = root?.version ?? 1;
  if (root && !root.empty && rootSchema > rules.maxSchema)
    return refused(
      'schema_unsupported',
      `containerd ${containerd.version ?? '?'} with a root file of schema ${rootSchema}`,
    );
  const edits = new Map<string, KeyEdit[]>();
  const limit = rules.refusesNewerImports ? rootSchema : rules.maxSchema;
  const mended = layers.map((layer) => {
    const lowered = (layer.version ?? 1) > limit ? lower(layer, limit, layers, rules) : { layer, edits: [] };
    const { disabledPlugins } = layer;
    const named = hasFullNames(layers, lowered.layer, rules) ? disabledPlugins.map(fullNameOf) : disabledPlugins;
    const isRenamed = named.some((name, index) => name !== disabledPlugins[index]);
    const rename: KeyEdit[] = isRenamed ? [{ op: 'set', path: ['disabled_plugins'], value: named }] : [];
    const own = [...lowered.edits, ...rename];
    if (own.length > 0) edits.set(layer.path, own);
    return { ...lowered.layer, disabledPlugins: named };
  });
  const short = mended.find((layer) => hasFullNames(layers, layer, rules) && shortNames(layer, rules).length > 0);
  if (short) return refused('config_invalid', `${short.path} names ${shortNames(short, rules).join(', ')} in short`);
  if (edits.size === 0)
    return refused('config_invalid', 'containerd could not merge its files, or not all of them were readable');
  return { ok: true, layers: mended, edits };
}

/**
 * A version that the release takes. Sections under names of the old one stay, and are not read any more; but in 2.x they
 * would hide what another file of schema 2 has. Such a file was made from a dump of just those settings: its section goes.
 */
function lower(
  layer: ContainerdLayer,
  schema: number,
  layers: readonly ContainerdLayer[],
  rules: ContainerdRules,
): { layer: ContainerdLayer; edits: KeyEdit[] } {
  const version: KeyEdit = { op: 'set', path: ['version'], value: schema };
  const own = pluginOf(schema);
  if (own === pluginOf(layer.version ?? 1)) return { layer: { ...layer, version: schema }, edits: [version] };
  const { plugins = [] } = layer;
  const others = { defaultRuntime: null, enableCdi: null, hasCri: plugins.includes(own), runtimes: [] };
  const misplaced = layer.runtimes.map(({ name }) => name);
  const lowered = { ...layer, ...others, misplaced, version: schema };
  const has = (other: ContainerdLayer) => other.plugins?.includes(own) === true;
  const hides = !rules.losesBuiltInRunc && plugins.includes(criPlugin.v3) && layers.some(has);
  if (!hides) return { layer: lowered, edits: [version] };
  const removed: KeyEdit = { op: 'remove', path: ['plugins', criPlugin.v3] };
  const left = plugins.filter((name) => name !== criPlugin.v3);
  return { layer: { ...lowered, misplaced: [], plugins: left }, edits: [version, removed] };
}

/** Since schema 2 plugins are named in full; 1.x goes by the last file that states a version, 2.x by each its own. */
function hasFullNames(layers: readonly ContainerdLayer[], layer: ContainerdLayer, rules: ContainerdRules): boolean {
  const version = rules.losesBuiltInRunc ? layers.findLast((one) => one.version !== null)?.version : layer.version;
  return (version ?? 1) >= 2;
}

/** 2.x does not mind the names of sections. */
function shortNames(layer: ContainerdLayer, rules: ContainerdRules): string[] {
  const { disabledPlugins, requiredPlugins = [], plugins = [] } = layer;
  const sections = rules.losesBuiltInRunc ? plugins : [];
  return [...disabledPlugins, ...requiredPlugins, ...sections].filter((name) => !/^io\.containerd\.[^.]*\./.test(name));
}

const fullNames: Record<string, string> = {
  cri: criPlugin.v2,
  ...Object.fromEntries(
    ['aufs', 'btrfs', 'devmapper', 'native', 'overlayfs', 'zfs'].map((name) => [
      name,
      `io.containerd.snapshotter.v1.${name}`,
    ]),
  ),
};

function fullNameOf(name: string): string {
  return Object.hasOwn(fullNames, name) ? (fullNames[name] ?? name) : name;
}

function refused(because: string, detail: string): Extract<Mended, { ok: false }> {
  return { ok: false, problem: reason(because, detail) };
}
