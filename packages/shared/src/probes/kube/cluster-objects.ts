import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { Tree } from '../values.ts';
import type { DevicePluginFact } from './device-plugin-fact.ts';
import type { KubeFact } from './fact.ts';
import { type Api, questions } from './kubectl.ts';
import { parseItems, toGpuDaemonSets, toPluginPods } from './parse-device-plugin.ts';
import { parseNode, toRuntimeClasses } from './parse-node.ts';
import { toNodePods } from './parse-node-pods.ts';
import { toPluginConfigMaps, toPluginEvents } from './parse-plugin-objects.ts';

export type ClusterObjects = Pick<KubeFact, 'node' | 'runtimeClasses' | 'pods' | 'operator' | 'events'> &
  Pick<DevicePluginFact, 'daemonSets' | 'configMaps'> & { pluginPods: DevicePluginFact['pods'] };

const nothing: ClusterObjects = {
  node: null,
  runtimeClasses: null,
  operator: null,
  events: null,
  daemonSets: null,
  pods: null,
  pluginPods: null,
  configMaps: null,
};
const ofPods = ['pods', 'devicePlugin.pods'];
const ofClasses = ['runtimeClasses'];
const ofDaemonSets = ['devicePlugin.daemonSets', 'operator'];
const ofConfigMaps = ['devicePlugin.configMaps'];

/** What the API says of this node and of NVIDIA's parts in the cluster, as far as this host may ask it. */
export async function readClusterObjects(
  host: HostReader,
  api: Api | null,
  node: string | null,
  partial: Gap[],
): Promise<ClusterObjects> {
  const gap = (paths: readonly string[], because: string) => partial.push(...paths.map((path) => ({ path, because })));
  const ofNode = ['node', ...ofPods];
  if (api === null) {
    gap([...ofNode, ...ofClasses, ...ofDaemonSets, ...ofConfigMaps], 'no_rights_here');
    return nothing;
  }
  if (node === null) gap(ofNode, 'no_node_name');
  const found: ClusterObjects = { ...nothing };
  const { nowMs } = await host.moment();
  if (node !== null) found.node = await api.ask(questions.node(node), ['node'], parseNode);
  if (api.rights === 'admin') {
    const paths = [...ofClasses, ...ofDaemonSets];
    const items = await api.ask(questions.classesAndDaemonSets(), paths, parseItems);
    if (items !== null) {
      const { plugins, operator } = toGpuDaemonSets(items);
      Object.assign(found, { runtimeClasses: toRuntimeClasses(items), daemonSets: plugins, operator });
    }
  } else {
    const items = await api.ask(questions.classes(), ofClasses, parseItems);
    if (items !== null) found.runtimeClasses = toRuntimeClasses(items);
    gap([...ofDaemonSets, ...ofConfigMaps], 'no_rights_here');
  }
  if (node !== null) {
    const items = await api.ask(questions.pods(node), ofPods, parseItems);
    found.pods = items === null ? null : toNodePods(items);
    found.pluginPods = items === null ? null : toPluginPods(items, nowMs);
  }
  if (api.rights === 'admin') {
    found.configMaps = await readConfigMaps(api, found.daemonSets, nowMs, partial);
    found.events = await readEvents(api, found);
  }
  return found;
}

async function readConfigMaps(
  api: Api,
  daemonSets: ClusterObjects['daemonSets'],
  nowMs: number,
  partial: Gap[],
): Promise<ClusterObjects['configMaps']> {
  if (daemonSets === null) {
    partial.push(...ofConfigMaps.map((path) => ({ path, because: 'daemon_sets_not_known' })));
    return null;
  }
  const found: Tree[] = [];
  for (const namespace of new Set(daemonSets.map((one) => one.namespace))) {
    const items = await api.ask(questions.configMaps(namespace), ofConfigMaps, parseItems);
    if (items === null) return null;
    found.push(...items);
  }
  return toPluginConfigMaps(found, nowMs);
}

/** A plugin that does not come up is the one case in which they say more than the pod itself. */
async function readEvents(api: Api, { daemonSets, pluginPods: pods }: ClusterObjects): Promise<KubeFact['events']> {
  const names = (daemonSets ?? []).map(({ name }) => name);
  const isWell = names.length === 0 || ((pods ?? []).length > 0 && pods?.every(({ ready }) => ready));
  if (isWell) return null;
  const items = await api.ask(questions.events(), ['events'], parseItems);
  return items === null ? null : toPluginEvents(items, names);
}
