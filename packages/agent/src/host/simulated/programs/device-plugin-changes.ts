import { type DevicePlugin, type Kubernetes, type Machine, nowMs } from '../machine.ts';
import { logChange } from './cluster-log.ts';
import { keepPluginLog, pluginPodName } from './device-plugin-log.ts';
import { daemonSets } from './device-plugin-objects.ts';
import { type Answer, complained, printed } from './program.ts';

interface Container {
  image?: string;
  env?: { name: string; value?: string; $patch?: string }[];
}

interface Template {
  runtimeClassName?: string | null;
  nodeSelector?: Record<string, string | null> | null;
  containers?: Container[];
  volumes?: { name: string; hostPath?: { path: string }; configMap?: { name: string }; $patch?: string }[];
}

/** What `create -f -` is given. */
export interface Created {
  kind?: unknown;
  metadata?: { name?: unknown; namespace?: unknown };
  data?: Record<string, string>;
  spec?: { template?: { spec?: Template } };
}

/** The DaemonSet of the device plugin, its pod here, and ConfigMaps. */
export function changePlugin(machine: Machine, kubernetes: Kubernetes, args: readonly string[]): Answer | undefined {
  const [verb, kind, name = ''] = args;
  const namespace = args[args.indexOf('-n') + 1] ?? '';
  const plugin = kubernetes.devicePlugin;
  if (kind === 'configmap') return onConfigMap(machine, kubernetes, args, `${namespace}/${name}`);
  if (kind === 'pod' && verb === 'delete') {
    if (!plugin || name !== pluginPodName(machine)) return absent('pods', name);
    plugin.unhealthy = [];
    renewPlugin(machine);
    logChange(machine, `delete pod ${namespace}/${name}`);
    return printed(`pod "${name}" deleted\n`);
  }
  if (kind !== 'daemonset') return undefined;
  if (!plugin || plugin.name !== name || plugin.namespace !== namespace) return absent('daemonsets.apps', name);
  if (verb === 'get') return printed(`${JSON.stringify(daemonSets(machine, kubernetes)[0], null, 4)}\n`);
  if (verb === 'delete') {
    kubernetes.devicePlugin = null;
    keepPluginLog(machine);
    logChange(machine, `delete daemonset ${namespace}/${name}`);
    return printed(`daemonset.apps "${name}" deleted\n`);
  }
  if (verb !== 'patch') return undefined;
  const patch = JSON.parse(args[args.indexOf('-p') + 1] ?? '{}') as Created;
  setTemplate(plugin, patch.spec?.template?.spec ?? {});
  renewPlugin(machine);
  logChange(machine, `patch daemonset ${namespace}/${name}`);
  return printed(`daemonset.apps/${name} patched\n`);
}

export function createPluginObject(machine: Machine, kubernetes: Kubernetes, object: Created): Answer | undefined {
  const [name, namespace] = [String(object.metadata?.name), String(object.metadata?.namespace)];
  if (object.kind === 'ConfigMap') {
    if (kubernetes.configMaps[`${namespace}/${name}`]) return exists('configmaps', name);
    kubernetes.configMaps[`${namespace}/${name}`] = object.data ?? {};
    logChange(machine, `create configmap ${namespace}/${name}`);
    return printed(`configmap/${name} created\n`);
  }
  if (object.kind !== 'DaemonSet') return undefined;
  if (kubernetes.devicePlugin?.name === name) return exists('daemonsets.apps', name);
  kubernetes.devicePlugin = {
    namespace,
    name,
    version: '',
    chart: null,
    runtimeClassName: null,
    migStrategy: 'none',
    env: {},
    nodeSelector: {},
    configMap: null,
    hostPath: '',
    runs: 0,
    startedAtMs: null,
    unhealthy: [],
  };
  setTemplate(kubernetes.devicePlugin, object.spec?.template?.spec ?? {});
  renewPlugin(machine);
  logChange(machine, `create daemonset ${namespace}/${name}`);
  return printed(`daemonset.apps/${name} created\n`);
}

/** Its DaemonSet makes the pod of this node anew. */
export function renewPlugin(machine: Machine): void {
  const plugin = machine.kubernetes?.devicePlugin;
  if (!plugin) return;
  plugin.runs += 1;
  plugin.startedAtMs = nowMs(machine);
  keepPluginLog(machine);
}

/** Those that every pod of the plugin has by itself. */
const usual = new Set([
  'MPS_ROOT',
  'NVIDIA_MIG_MONITOR_DEVICES',
  'NVIDIA_VISIBLE_DEVICES',
  'NVIDIA_DRIVER_CAPABILITIES',
]);

function setTemplate(plugin: DevicePlugin, template: Template): void {
  const [container] = template.containers ?? [];
  if (template.runtimeClassName !== undefined) plugin.runtimeClassName = template.runtimeClassName;
  if (container?.image) plugin.version = container.image.split(':').at(-1) ?? '';
  for (const [key, value] of Object.entries(template.nodeSelector ?? {}))
    if (value === null) delete plugin.nodeSelector[key];
    else plugin.nodeSelector[key] = value;
  for (const { name, value = '', $patch } of container?.env ?? []) {
    if (name === 'MIG_STRATEGY') plugin.migStrategy = value as DevicePlugin['migStrategy'];
    else if ($patch === 'delete') delete plugin.env[name];
    else if (!usual.has(name)) plugin.env[name] = value;
  }
  for (const { hostPath, configMap, name, $patch } of template.volumes ?? []) {
    if (name === 'device-plugin' && hostPath) plugin.hostPath = hostPath.path;
    if (configMap) plugin.configMap = configMap.name;
    if (name === 'gpufleet-config' && $patch === 'delete') plugin.configMap = null;
  }
}

function onConfigMap(
  machine: Machine,
  { configMaps }: Kubernetes,
  args: readonly string[],
  id: string,
): Answer | undefined {
  const [verb, , name = ''] = args;
  const data = configMaps[id];
  if (!data) return absent('configmaps', name);
  if (verb === 'get') return printed(`${JSON.stringify(configMapObject(id, data), null, 4)}\n`);
  if (verb === 'delete') {
    delete configMaps[id];
    logChange(machine, `delete configmap ${id}`);
    return printed(`configmap "${name}" deleted\n`);
  }
  if (verb !== 'patch') return undefined;
  const patch = JSON.parse(args[args.indexOf('-p') + 1] ?? '{}') as { data?: Record<string, string> };
  Object.assign(data, patch.data);
  logChange(machine, `patch configmap ${id}`);
  return printed(`configmap/${name} patched\n`);
}

export function configMapObject(id: string, data: Record<string, string>): object {
  const [namespace, name] = id.split('/');
  return { apiVersion: 'v1', data, kind: 'ConfigMap', metadata: { name, namespace } };
}

function exists(kind: string, name: string): Answer {
  return complained(
    `Error from server (AlreadyExists): error when creating "STDIN": ${kind} "${name}" already exists\n`,
  );
}

function absent(kind: string, name: string): Answer {
  return complained(`Error from server (NotFound): ${kind} "${name}" not found\n`);
}
