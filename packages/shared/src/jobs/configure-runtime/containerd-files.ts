import type { ContainerdFact } from '../../probes/containerd/fact.ts';
import { reason } from '../plan-parts.ts';
import type { KeyEdit, PlanReason } from '../step.ts';
import { disabledPluginEdits, entryEdits, runcEdits } from './containerd-edits.ts';
import {
  type ContainerdRules,
  criPath,
  type Home,
  type Layer,
  type Merged,
  owningLayer,
  toHome,
} from './containerd-layers.ts';
import type { ConfigureRuntimeParams } from './params.ts';

/** All that the edits of the files are made from. */
export interface Given {
  containerd: ContainerdFact;
  params: ConfigureRuntimeParams;
  rules: ContainerdRules;
  layers: readonly Layer[];
  merged: Merged;
  /** Edits without which containerd does not start, by file. */
  repairs: ReadonlyMap<string, KeyEdit[]>;
  usesSystemd: boolean;
}

/** In the order in which they are written. */
export type FileEdits = Map<string, { home: Home; edits: KeyEdit[] }>;

export function rootPathOf(containerd: ContainerdFact): string {
  return containerd.files[0]?.path ?? '/etc/containerd/config.toml';
}

/** The file that gets the runtime: the one asked for, the one that counts now, else the root file. */
export function homeOf({ containerd, params, rules, layers }: Given): Home | PlanReason {
  const root = rootHome(containerd, layers, rules);
  if (params.dropInPath !== undefined) {
    const others = layers.some((layer) => layer.hasCri && layer.path !== params.dropInPath);
    if (others && !rules.mergesPlugins)
      return reason(
        'drop_in_would_shadow',
        'before containerd 2.1 a drop-in replaces the CRI section of the other files',
      );
    const layer = layers.find(({ path }) => path === params.dropInPath);
    return toHome(containerd, layer, params.dropInPath, root.schema);
  }
  const owner = owningLayer(layers, params.runtimeName, rules);
  return owner ? toHome(containerd, owner, owner.path, root.schema) : root;
}

function rootHome(containerd: ContainerdFact, layers: readonly Layer[], rules: ContainerdRules): Home {
  const path = rootPathOf(containerd);
  const layer = layers.find((candidate) => candidate.path === path);
  return toHome(containerd, layer, path, rules.newSchema);
}

/** CRI does not load when its default runtime has no table; that default is not ours to choose. */
export function missingDefault({ merged, params, rules, layers }: Given, home: Home): PlanReason | null {
  const now = merged.defaultRuntime;
  if (params.setAsDefault || now === 'runc' || now === params.runtimeName) return null;
  const read = rules.mergesPlugins ? layers : [home.layer];
  if (read.some(({ runtimes }) => runtimes.some(({ name }) => name === now))) return null;
  return reason(
    'default_runtime_missing',
    `the default runtime ${now} has no table: a person must say what it is to be`,
  );
}

/** What it is once the edits are made. */
export function futureDefault({ merged, params }: Given): string {
  if (params.setAsDefault) return params.runtimeName;
  return params.setAsDefault === false && merged.defaultRuntime === params.runtimeName ? 'runc' : merged.defaultRuntime;
}

export function editsByFile(given: Given, home: Home, binary: string): FileEdits {
  const { containerd, params, rules, layers, merged, repairs } = given;
  const files: FileEdits = new Map();
  const add = (target: Home, edits: KeyEdit[]) => {
    if (edits.length === 0) return;
    const version: KeyEdit[] = target.isNew ? [{ op: 'set', path: ['version'], value: target.schema }] : [];
    const file = files.get(target.layer.path) ?? { home: target, edits: version };
    files.set(target.layer.path, { home: target, edits: [...file.edits, ...edits] });
  };
  const homeIn = (layer: Layer) => toHome(containerd, layer, layer.path, home.schema);
  // The program of the runtime is asked to check each file that is written: what keeps it from starting goes first.
  for (const layer of layers) add(homeIn(layer), repairs.get(layer.path) ?? []);
  const homeOfLast = (says: (layer: Layer) => boolean): Home => {
    const last = rules.mergesPlugins ? layers.findLast(says) : undefined;
    return last && last.path !== home.layer.path ? homeIn(last) : home;
  };
  const name = params.runtimeName;
  add(home, [...runcEdits(home, rules, futureDefault(given)), ...entryEdits(home, name, binary, given.usesSystemd)]);
  if (params.setAsDefault !== undefined && params.setAsDefault !== (merged.defaultRuntime === name)) {
    const target = homeOfLast((layer) => layer.defaultRuntime !== null);
    const value = params.setAsDefault ? name : 'runc';
    add(target, [{ op: 'set', path: [...criPath(target), 'containerd', 'default_runtime_name'], value }]);
  }
  if (params.cdi !== undefined && params.cdi !== merged.enableCdi) {
    const target = homeOfLast((layer) => layer.enableCdi !== null);
    add(target, [{ op: 'set', path: [...criPath(target), 'enable_cdi'], value: params.cdi }]);
  }
  if (params.enableCri) for (const layer of layers) add(homeIn(layer), disabledPluginEdits(layer));
  return withImport(given, files);
}

/** A drop-in that no file imports is never read. It is written first: 1.x exits on an import that is not there. */
function withImport({ containerd, params, rules, layers }: Given, files: FileEdits): FileEdits {
  const { dropInPath } = params;
  if (dropInPath === undefined || containerd.files.some((file) => file.present && file.path === dropInPath))
    return files;
  const home = rootHome(containerd, layers, rules);
  const version: KeyEdit[] = home.isNew ? [{ op: 'set', path: ['version'], value: home.schema }] : [];
  const rootPath = home.layer.path;
  const earlier = files.get(rootPath)?.edits ?? version;
  files.delete(rootPath);
  files.set(rootPath, { home, edits: [...earlier, { op: 'append', path: ['imports'], value: dropInPath }] });
  return files;
}
