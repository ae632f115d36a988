import type { FactValue } from '../../probes/facts.ts';
import type { PluginDaemonSet } from '../../probes/kube/device-plugin-fact.ts';
import type { Observed, Verdict } from '../define-job.ts';
import { type Cluster, clusterOf } from '../kube-parts.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { KubeObject, Plan, PlanReason, Step, StepOf } from '../step.ts';
import { changesOf, type GivenConfig } from './changes.ts';
import {
  configFolder,
  configKey,
  newDaemonSet,
  ownConfigMap,
  ownName,
  ownNamespace,
  sharingConfigMap,
} from './new-daemon-set.ts';
import type { DeployDevicePluginParams } from './params.ts';

type Kube = FactValue<'kube'>;
type Facts = Observed<'kube'>;
type Ready = Extract<Cluster, { ok: true }>;

const podTimeoutMs = 180_000;
const configLabel = 'nvidia.com/device-plugin.config';
const manifestFolders = {
  k3s: '/var/lib/rancher/k3s/server/manifests',
  rke2: '/var/lib/rancher/rke2/server/manifests',
} as const;

export function planDevicePlugin({ kube }: Facts, params: DeployDevicePluginParams): Plan {
  const cluster = clusterOf(kube);
  if (!cluster.ok) return { outcome: 'blocked', because: [cluster.because] };
  const { daemonSets } = kube.devicePlugin;
  if (daemonSets === null) return blocked('fact_unreadable', 'kube: the DaemonSets could not be listed');
  if (kube.operator !== null || daemonSets.some(({ ofOperator }) => ofOperator))
    return blocked('kept_by_operator', 'the GPU Operator keeps the device plugin: change its ClusterPolicy');
  if (daemonSets.length > 1)
    return blocked('several_plugins', daemonSets.map(({ namespace, name }) => `${namespace}/${name}`).join(', '));
  const [there] = daemonSets;
  if (params.configMap !== undefined && params.timeSlicing !== undefined)
    return blocked('unsupported_params', 'configMap and timeSlicing: one of the two says what the plugin shares');
  const config = configOf(kube, params, there?.namespace ?? ownNamespace);
  if ('because' in config) return { outcome: 'blocked', because: [config] };
  const labels = labelSteps(cluster, params);
  const sharing = sharingSteps(kube, cluster, params, there?.namespace ?? ownNamespace);
  const first = { steps: [...labels.steps, ...sharing.steps], because: [...labels.because, ...sharing.because] };
  return there ? planChange(kube, cluster, there, params, config, first) : planNew(cluster, params, config, first);
}

interface Part {
  steps: Step[];
  because: PlanReason[];
}

function planNew({ access }: Ready, params: DeployDevicePluginParams, { given }: Config, first: Part): Plan {
  const object = newDaemonSet(params, given?.file ?? null);
  const of = { access, namespace: ownNamespace, name: ownName } as const;
  const steps: Step[] = [...first.steps, { do: 'set_object', ...of, kind: 'DaemonSet', from: null, to: object }];
  if (params.via === 'manifest') {
    if (access !== 'k3s' && access !== 'rke2')
      return blocked('unsupported_params', 'via=manifest: only k3s and RKE2 have a folder of manifests');
    const whole = { ...object, metadata: { labels: metadataLabels(object), name: ownName, namespace: ownNamespace } };
    steps.push({
      do: 'write_file',
      path: `${manifestFolders[access]}/${ownName}.yaml`,
      baseSha256: null,
      contents: `${JSON.stringify(whole, null, 2)}\n`,
      newMode: 0o600,
    });
  }
  const because = [reason('plugin_missing', 'the cluster has no device plugin of NVIDIA’s'), ...first.because];
  return { outcome: 'plan', because, steps, holders: [] };
}

function metadataLabels({ metadata }: KubeObject): KubeObject {
  return (metadata as { labels: KubeObject }).labels;
}

function planChange(
  kube: Kube,
  { access, node }: Ready,
  there: PluginDaemonSet,
  params: DeployDevicePluginParams,
  { given }: Config,
  first: Part,
): Plan {
  const changed = changesOf(there, params, given);
  if (!changed.ok) return { outcome: 'blocked', because: [changed.because] };
  const { from, to, because } = changed.changes;
  const { namespace, name } = there;
  const steps: Step[] = [...first.steps];
  if (because.length > 0) steps.push({ do: 'set_object', access, kind: 'DaemonSet', namespace, name, from, to });
  // A DaemonSet that changes makes its pods anew by itself; a ConfigMap is read at their start only.
  const again = because.length > 0 ? [] : whyRestart(kube, params, given, first);
  if (again.length > 0)
    steps.push({ do: 'replace_pods', access, node: node.name, namespace, daemonSet: name, timeoutMs: podTimeoutMs });
  if (steps.length === 0)
    return noop('already_there', `${namespace}/${name} is as asked, and the node offers its GPUs`);
  return { outcome: 'plan', because: [...first.because, ...because, ...again], steps, holders: [] };
}

function whyRestart(
  kube: Kube,
  { restart, unlessStartedAfterMs }: DeployDevicePluginParams,
  given: GivenConfig | null,
  first: Part,
): PlanReason[] {
  const { pods, logs } = kube.devicePlugin;
  const config = given && kube.devicePlugin.configMaps?.find(({ name }) => name === given.map);
  const printed = logs.find((log) => log.config !== null)?.config;
  const wanted = config?.configs[given?.file.split('/').at(-1) ?? ''];
  const isOld = printed && wanted && shared(printed.timeSlicing) !== shared(wanted.timeSlicing);
  if (isOld || first.steps.some((step) => step.do === 'set_object' && step.kind === 'ConfigMap' && given !== null))
    return [reason('config_not_read', 'the plugin was not started since its configuration was changed')];
  if (!restart) return [];
  const started = pods?.[0]?.startedAtMs ?? null;
  if (unlessStartedAfterMs !== undefined)
    return started !== null && started + 999 <= unlessStartedAfterMs
      ? [reason('started_before', 'the plugin’s pod has run since before the time given')]
      : [];
  const short = shortOf(kube);
  return short === null ? [] : [reason('node_offers_too_little', short)];
}

function shared(replicas: Record<string, number> | null): string {
  return JSON.stringify(Object.entries(replicas ?? {}).sort());
}

/** What the node lacks of what the plugin has; null: nothing. */
function shortOf({ node, devicePlugin }: Kube): string | null {
  const names = Object.keys(node?.capacity ?? {}).filter((name) => name.startsWith('nvidia.com/'));
  const short = names.filter((name) => Number(node?.allocatable[name] ?? 0) < Number(node?.capacity[name]));
  if (short.length > 0)
    return short.map((name) => `${name}: ${node?.allocatable[name]} of ${node?.capacity[name]}`).join(', ');
  if (!names.some((name) => Number(node?.allocatable[name] ?? 0) > 0)) return 'the node offers no GPU';
  return devicePlugin.pods?.every(({ ready }) => ready) ? null : 'the plugin’s pod is not ready';
}

function labelSteps({ access, node }: Ready, { nodeLabels = {} }: DeployDevicePluginParams): Part {
  const missing = Object.entries(nodeLabels).filter(([key, value]) => node.labels[key] !== value);
  if (missing.length === 0) return { steps: [], because: [] };
  const keys = missing.map(([key]) => key);
  const was = Object.fromEntries(Object.entries(node.labels).filter(([key]) => keys.includes(key)));
  const step: StepOf<'set_object'> = {
    do: 'set_object',
    access,
    kind: 'Node',
    namespace: null,
    name: node.name,
    from: { metadata: { labels: was } },
    to: { metadata: { labels: Object.fromEntries(missing) } },
  };
  return { steps: [step], because: [reason('node_lacks_labels', keys.join(', '))] };
}

type Config = { given: GivenConfig | null };

function configOf(kube: Kube, params: DeployDevicePluginParams, namespace: string): Config | PlanReason {
  if (params.timeSlicing !== undefined) return { given: { map: ownConfigMap, file: `${configFolder}/${configKey}` } };
  if (params.configMap === undefined) return { given: null };
  const map = kube.devicePlugin.configMaps?.find((one) => one.namespace === namespace && one.name === params.configMap);
  if (!map)
    return reason('config_map_missing', `${namespace}/${params.configMap} holds no configuration of the plugin`);
  const keys = Object.keys(map.configs);
  const key = keys.length === 1 ? keys[0] : kube.node?.labels[configLabel];
  if (key === undefined || !keys.includes(key))
    return reason(
      'config_key_unclear',
      `${namespace}/${params.configMap} has ${keys.join(', ')}: label the node with one`,
    );
  return { given: { map: map.name, file: `${configFolder}/${key}` } };
}

/** Our ConfigMap with the sharing that is asked for. */
function sharingSteps(
  kube: Kube,
  { access }: Ready,
  { timeSlicing }: DeployDevicePluginParams,
  namespace: string,
): Part {
  if (timeSlicing === undefined) return { steps: [], because: [] };
  const own = kube.devicePlugin.configMaps?.find((one) => one.namespace === namespace && one.name === ownConfigMap);
  const had = own?.configs[configKey]?.timeSlicing ?? null;
  if (own && shared(had) === shared(timeSlicing)) return { steps: [], because: [] };
  const to = sharingConfigMap(timeSlicing);
  const from = own ? { data: sharingConfigMap(had ?? {}).data ?? {} } : null;
  const step: StepOf<'set_object'> = {
    do: 'set_object',
    access,
    kind: 'ConfigMap',
    namespace,
    name: ownConfigMap,
    from,
    to: from === null ? to : { data: to.data ?? {} },
  };
  return { steps: [step], because: [reason('sharing_differs', `${namespace}/${ownConfigMap}`)] };
}

export function verifyDevicePlugin({ kube }: Facts, params: DeployDevicePluginParams): Verdict {
  const no = (because: string, detail: string): Verdict => ({
    ok: false,
    because: [reason(because, detail)],
    answered: false,
  });
  const plan = planDevicePlugin({ kube }, { ...params, restart: false });
  if (plan.outcome !== 'noop') return no('plugin_differs', plan.because.map(({ detail }) => detail).join('; '));
  const { pods } = kube.devicePlugin;
  const [daemonSet] = kube.devicePlugin.daemonSets ?? [];
  if (!pods || pods.length === 0) {
    // With a selector that leaves this node out there is nothing more to be seen here.
    const isElsewhere = Object.entries(params.nodeSelector ?? {}).some(
      ([key, value]) => kube.node?.labels[key] !== value,
    );
    return isElsewhere
      ? { ok: true, because: [reason('live_as_asked', 'the plugin leaves this node alone, as asked')] }
      : no('pods_not_ready', 'this node has no pod of the plugin');
  }
  const old = pods.find(
    ({ ready, spec }) => !ready || spec.image !== daemonSet?.spec.image || isOther(spec, daemonSet),
  );
  if (old) return no('pods_not_ready', `${old.namespace}/${old.name} is not ready, or not the new one`);
  const short = shortOf(kube);
  return short === null
    ? { ok: true, because: [reason('live_as_asked', 'the plugin is ready, and the node offers its GPUs')] }
    : no('node_offers_too_little', short);
}

function isOther(spec: PluginDaemonSet['spec'], daemonSet: PluginDaemonSet | undefined): boolean {
  const text = ({ env, runtimeClassName, socketHostPath }: PluginDaemonSet['spec']) =>
    JSON.stringify([Object.entries(env).sort(), runtimeClassName, socketHostPath]);
  return daemonSet !== undefined && text(spec) !== text(daemonSet.spec);
}
