import type { RuntimeEntry } from '../../probes/fact.ts';
import type { KeyEdit } from '../step.ts';
import {
  type ContainerdRules,
  criPath,
  criPlugin,
  criPluginNames,
  type Home,
  type Layer,
} from './containerd-layers.ts';

export const runcType = 'io.containerd.runc.v2';

/** Keys of the runtime's own table. An entry that is there keeps what is not ours. */
export function entryEdits(home: Home, name: string, binary: string, usesSystemd: boolean): KeyEdit[] {
  const runtimes = [...criPath(home), 'containerd', 'runtimes'];
  const entry = find(home.layer, name);
  const model = modelFor(home.layer, name);
  const options: KeyEdit[] = [];
  if (entry?.binary !== binary) {
    options.push({ op: 'set', path: [...runtimes, name, 'options', 'BinaryName'], value: binary });
    if (home.layer.criPlugin === criPlugin.v1)
      options.push({ op: 'set', path: [...runtimes, name, 'options', 'Runtime'], value: binary });
  }
  // A runtime with another cgroup driver than the kubelet's lets pods start outside its limits, or not at all.
  const wantsSystemd = usesSystemd || model?.systemdCgroup === true;
  const hasSystemd = (entry ?? model)?.systemdCgroup === true;
  if (wantsSystemd && !hasSystemd)
    options.push({ op: 'set', path: [...runtimes, name, 'options', 'SystemdCgroup'], value: true });
  if (entry) {
    if (!entry.type?.startsWith('io.containerd.runc.'))
      options.unshift({ op: 'set', path: [...runtimes, name, 'runtime_type'], value: runcType });
    return options;
  }
  const copy: KeyEdit[] = model ? [{ op: 'copy', from: [...runtimes, model.name], path: [...runtimes, name] }] : [];
  const type: KeyEdit[] = model?.type
    ? []
    : [{ op: 'set', path: [...runtimes, name, 'runtime_type'], value: runcType }];
  return [...copy, ...type, ...options];
}

/** containerd 1.x drops its built-in runc as soon as any runtime is stated: pods without a class would have none. */
export function runcEdits(home: Home, rules: ContainerdRules, defaultRuntime: string): KeyEdit[] {
  const { runtimes } = home.layer;
  if (!rules.losesBuiltInRunc || find(home.layer, 'runc')) return [];
  if (runtimes.length > 0 && defaultRuntime !== 'runc') return [];
  return [{ op: 'set', path: [...criPath(home), 'containerd', 'runtimes', 'runc', 'runtime_type'], value: runcType }];
}

export function disabledPluginEdits(layer: Layer): KeyEdit[] {
  if (!layer.disabledPlugins.some(isCri)) return [];
  const kept = layer.disabledPlugins.filter((plugin) => !isCri(plugin));
  return [{ op: 'set', path: ['disabled_plugins'], value: kept }];
}

export function isCri(plugin: string): boolean {
  return criPluginNames.includes(plugin);
}

/** Whose options a new entry takes over: runc's or crun's, never those of a sandboxed runtime. */
function modelFor(layer: Layer, name: string): RuntimeEntry | undefined {
  return ['runc', 'crun']
    .map((candidate) => find(layer, candidate))
    .find((entry) => entry !== undefined && entry.name !== name && (entry.type === null || entry.type === runcType));
}

function find(layer: Layer, name: string): RuntimeEntry | undefined {
  return layer.runtimes.find((runtime) => runtime.name === name);
}
