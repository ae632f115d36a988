import { parseJson } from '../parse-document.ts';
import { parseMoment } from '../parse-moment.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, integerAt, isTree, listAt, stringsAt, type Tree, textAt, treeAt } from '../values.ts';
import type { PluginDaemonSet, PluginPod } from './device-plugin-fact.ts';
import type { KubeFact } from './fact.ts';
import { toPluginSpec } from './parse-plugin-spec.ts';

/** What a list of DaemonSets says of GPUs. */
export interface GpuDaemonSets {
  plugins: PluginDaemonSet[];
  operator: KubeFact['operator'];
}

/** A node with hundreds of pods. */
const longestList = 16_000_000;

/** Lists of one or of several kinds, as `kubectl get … -o json` gives them. */
export function parseItems(text: string): Parsed<Tree[]> {
  const document = parseJson(text, longestList);
  const items = document.ok ? at(document.value, 'items') : undefined;
  if (!Array.isArray(items)) return unread(document.ok ? 'not_a_list' : 'not_json');
  return { value: items.filter(isTree), unreadable: [] };
}

export function toGpuDaemonSets(items: readonly Tree[]): GpuDaemonSets {
  const daemonSets = items.filter((item) => textAt(item, 'kind') === 'DaemonSet');
  return { plugins: daemonSets.flatMap(toDaemonSet), operator: toOperator(daemonSets) };
}

/** A plugin registers within seconds, and the kubelet tells the API within one. */
const freshMs = 120_000;

export function toPluginPods(items: readonly Tree[], nowMs: number): PluginPod[] {
  return items.flatMap((item) => {
    const container = pluginContainer(treeAt(item, 'spec'), textAt(item, 'metadata', 'name') ?? '');
    const [namespace, name] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    if (container === null || namespace === null || name === null) return [];
    const status = statusOf(item, textAt(container, 'name'));
    const waiting = treeAt(status, 'state', 'waiting') ?? treeAt(status, 'state', 'terminated');
    const ended = treeAt(status, 'lastState', 'terminated');
    const runsSinceMs = parseMoment(textAt(status, 'state', 'running', 'startedAt'));
    return [
      {
        namespace,
        name,
        phase: textAt(item, 'status', 'phase') ?? 'Unknown',
        ready: booleanAt(status, 'ready') ?? false,
        restarts: integerAt(status, 'restartCount'),
        startedAtMs: parseMoment(textAt(item, 'status', 'startTime')),
        isFresh: runsSinceMs !== null && nowMs - runsSinceMs < freshMs,
        reason: textAt(waiting, 'reason') ?? textAt(ended, 'reason') ?? textAt(item, 'status', 'reason'),
        message: (textAt(waiting, 'message') ?? textAt(ended, 'message'))?.slice(0, 500) ?? null,
        spec: toPluginSpec(item, container),
      },
    ];
  });
}

function toDaemonSet(item: Tree): PluginDaemonSet[] {
  const template = treeAt(item, 'spec', 'template') ?? {};
  const [namespace, name] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
  const container = pluginContainer(treeAt(template, 'spec'), name ?? '');
  if (container === null || namespace === null || name === null) return [];
  const chart = textAt(item, 'metadata', 'labels', 'helm.sh/chart');
  return [
    {
      namespace,
      name,
      chart: /-v?(\d+\.\d+\.\d+\S*)$/.exec(chart ?? '')?.[1] ?? null,
      ofOperator: clusterPolicyOf(item) !== null,
      desired: integerAt(item, 'status', 'desiredNumberScheduled'),
      ready: integerAt(item, 'status', 'numberReady'),
      spec: toPluginSpec(template, container),
    },
  ];
}

/** The container that registers with the kubelet: not its helpers, which are made from the same image. */
function pluginContainer(spec: Tree | undefined, owner: string): Tree | null {
  const containers = at(spec, 'containers');
  for (const container of Array.isArray(containers) ? containers : []) {
    const [name, image] = [textAt(container, 'name') ?? '', textAt(container, 'image') ?? ''];
    const command = [...stringsAt(container, 'command'), ...stringsAt(container, 'args')].join(' ');
    if (/sidecar|init|config-manager|mps-control|gpu-feature-discovery/.test(`${name} ${command}`)) continue;
    const isPlugin = /(^|\/)k8s-device-plugin([:@]|$)/.test(image) || /^nvidia-device-plugin/.test(name);
    if (isPlugin && !/gpu-feature-discovery|mps-control/.test(owner) && isTree(container)) return container;
  }
  return null;
}

function toOperator(daemonSets: readonly Tree[]): KubeFact['operator'] {
  const kept = daemonSets.filter((item) => clusterPolicyOf(item) !== null);
  const first = kept[0];
  if (first === undefined) return null;
  return {
    namespace: textAt(first, 'metadata', 'namespace') ?? '',
    clusterPolicy: clusterPolicyOf(first),
    hasToolkit: kept.some((item) => /container-toolkit/.test(textAt(item, 'metadata', 'name') ?? '')),
  };
}

function clusterPolicyOf(item: Tree): string | null {
  const owner = listAt(item, 'metadata', 'ownerReferences').find((one) => textAt(one, 'kind') === 'ClusterPolicy');
  return textAt(owner, 'name');
}

function statusOf(pod: Tree, container: string | null): unknown {
  return listAt(pod, 'status', 'containerStatuses').find((one) => textAt(one, 'name') === container);
}
