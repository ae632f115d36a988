import { parseJson, parseYaml } from '../parse-document.ts';
import { at, booleanAt, isTree, listAt, stringsAt, type Tree, textAt, treeAt } from '../values.ts';
import type { PluginConfig } from './device-plugin-fact.ts';

/** Where the plugin looks for each key that people put elsewhere. */
const places: Record<string, readonly string[]> = {
  migStrategy: ['flags.migStrategy'],
  failOnInitError: ['flags.failOnInitError'],
  deviceListStrategy: ['flags.plugin.deviceListStrategy'],
  deviceIDStrategy: ['flags.plugin.deviceIDStrategy'],
  passDeviceSpecs: ['flags.plugin.passDeviceSpecs'],
  timeSlicing: ['sharing.timeSlicing'],
  mps: ['sharing.mps'],
  renameByDefault: ['sharing.timeSlicing.renameByDefault', 'sharing.mps.renameByDefault'],
  failRequestsGreaterThanOne: [
    'sharing.timeSlicing.failRequestsGreaterThanOne',
    'sharing.mps.failRequestsGreaterThanOne',
  ],
  resources: ['resources', 'sharing.timeSlicing.resources', 'sharing.mps.resources'],
  replicas: [],
};

/** A configuration file of the plugin; null: this text is none. */
export function parsePluginConfig(text: string): PluginConfig | null {
  const document = parseYaml(text);
  if (!document.ok || !isTree(document.value)) return null;
  const known = ['flags', 'sharing', 'resources', 'imex', ...Object.keys(places)];
  // Other files of the same ConfigMap say `version: v1` too (that of mig-parted, for one).
  if (textAt(document.value, 'version') !== 'v1' || !known.some((key) => at(document.value, key) !== undefined))
    return null;
  return toConfig(document.value);
}

/** The JSON that the plugin prints when it starts. */
export function parsePrintedConfig(text: string): PluginConfig | null {
  const document = parseJson(text);
  return document.ok && isTree(document.value) ? toConfig(document.value) : null;
}

function toConfig(config: Tree): PluginConfig {
  const listStrategy = at(config, 'flags', 'plugin', 'deviceListStrategy');
  return {
    migStrategy: textAt(config, 'flags', 'migStrategy'),
    failOnInitError: booleanAt(config, 'flags', 'failOnInitError'),
    deviceListStrategy:
      typeof listStrategy === 'string'
        ? listStrategy.split(',').map((one) => one.trim())
        : Array.isArray(listStrategy)
          ? stringsAt(config, 'flags', 'plugin', 'deviceListStrategy')
          : null,
    timeSlicing: toReplicas(treeAt(config, 'sharing', 'timeSlicing')),
    mps: toReplicas(treeAt(config, 'sharing', 'mps')),
    misplaced: misplaced(config, ''),
  };
}

/** null: nothing is shared. The plugin prints an empty section where the file has none. */
function toReplicas(sharing: Tree | undefined): Record<string, number> | null {
  const pairs = listAt(sharing, 'resources').flatMap((one) => {
    const [name, replicas] = [textAt(one, 'name'), at(one, 'replicas')];
    const count = typeof replicas === 'bigint' ? Number(replicas) : replicas;
    return name !== null && typeof count === 'number' && Number.isSafeInteger(count) ? [[name, count] as const] : [];
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : null;
}

/** Three levels hold every key there is. */
function misplaced(tree: Tree, above: string): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = above === '' ? key : `${above}.${key}`;
    const right = Object.hasOwn(places, key) ? places[key] : undefined;
    if (right !== undefined && !right.includes(path)) return [path];
    return isTree(value) && path.split('.').length < 4 ? misplaced(value, path) : [];
  });
}
