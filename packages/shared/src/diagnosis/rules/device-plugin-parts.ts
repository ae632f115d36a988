import type { FactValue } from '../../probes/facts.ts';
import type { PluginDaemonSet, PluginPod, PluginSpec } from '../../probes/kube/device-plugin-fact.ts';
import { sources } from '../sources.ts';
import { isNvidiaHandler } from './kubelet-engine.ts';

export type Kube = FactValue<'kube'>;
type Node = NonNullable<Kube['node']>;

/** A plugin that concerns this host: its pod here, else a DaemonSet that belongs on this node. */
export interface PluginHere {
  name: string;
  spec: PluginSpec;
  source: string;
}

export function pluginsHere(kube: Kube): PluginHere[] {
  const { pods, daemonSets } = kube.devicePlugin;
  if (pods && pods.length > 0)
    return pods.map(({ namespace, name, spec }) => ({
      name: `${namespace}/${name}`,
      spec,
      source: sources.pods(kube),
    }));
  const { node } = kube;
  if (node === null) return [];
  return (daemonSets ?? [])
    .filter((daemonSet) => whyNotOn(node, daemonSet) === null)
    .map(({ namespace, name, spec }) => ({ name: `${namespace}/${name}`, spec, source: sources.daemonSets(kube) }));
}

/** How a pod that does not come up is: the number of its restarts, and what it does at the moment, never rest. */
export function stateOf({ reason, restarts }: Pick<PluginPod, 'reason' | 'restarts'>): string {
  return restarts ? 'CrashLoopBackOff' : (reason ?? 'not ready');
}

/** Nothing of a plugin is to be seen here, and all was read that would show it. */
export function surelyNoPlugin(kube: Kube): boolean {
  const { pods, daemonSets, logs } = kube.devicePlugin;
  return logs.length === 0 && pods !== null && pods.length === 0 && daemonSets !== null && daemonSets.length === 0;
}

/** The node offers GPUs, whole or cut. */
export function offersGpus(node: Node): boolean {
  return Object.entries(node.allocatable).some(([name, count]) => isGpuResource(name) && count !== '0');
}

export function isGpuResource(name: string): boolean {
  return /^nvidia\.com\/(gpu|mig-)/.test(name);
}

/** The runtime under which the plugin's pod gets GPUs, or devices of CDI that are put into it. */
export function seesGpus(spec: PluginSpec, kube: Kube): boolean {
  if (spec.cdiDevices.length > 0) return true;
  if (spec.runtimeClassName === null) return false;
  const handler = kube.runtimeClasses?.find(({ name }) => name === spec.runtimeClassName)?.handler;
  return isNvidiaHandler(handler ?? spec.runtimeClassName);
}

/** What the plugin runs with: what it printed, else its flag, else its variable (the order in which it takes them). */
export function pluginSetting(
  kube: Kube,
  { flag, variable, printed }: { flag: string; variable: string; printed(config: PrintedConfig): string | null },
): { value: string; source: string; quote: string } | null {
  for (const { config, source } of kube.devicePlugin.logs) {
    const value = config === null ? null : printed(config);
    if (value !== null) return { value, source, quote: `Running with config: ${value}` };
  }
  for (const { spec, source } of pluginsHere(kube)) {
    const at = spec.args.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`));
    const word = spec.args[at];
    const stated = word?.includes('=') ? word.slice(word.indexOf('=') + 1) : word && spec.args[at + 1];
    const value = stated || spec.env[variable];
    if (value) return { value, source, quote: stated ? `--${flag}=${value}` : `${variable}=${value}` };
  }
  return null;
}
type PrintedConfig = NonNullable<Kube['devicePlugin']['logs'][number]['config']>;

/** Why a DaemonSet has no pod on this node; null: nothing keeps it away. */
export function whyNotOn(node: Node, { spec }: Pick<PluginDaemonSet, 'spec'>): WhyNot | null {
  for (const [key, value] of Object.entries(spec.nodeSelector))
    if (node.labels[key] !== value)
      return { because: 'label', text: `nodeSelector ${key}=${value}`, labels: { [key]: value } };
  if (
    spec.affinity.length > 0 &&
    !spec.affinity.some((term) => term.length > 0 && term.every((one) => holds(one, node)))
  ) {
    const text = spec.affinity
      .map((term) =>
        term.map(({ key, operator, values }) => `${key} ${operator} ${values.join(',')}`.trim()).join(' and '),
      )
      .join(' or ');
    return { because: 'label', text: `affinity: ${text}`, labels: labelsFor(spec.affinity) };
  }
  const taint = node.taints.find(
    (one) =>
      /^No(Schedule|Execute)$/.test(one.effect) && !/^node\.kubernetes\.io\//.test(one.key) && !tolerates(spec, one),
  );
  if (!taint) return null;
  return {
    because: 'taint',
    text: `taint ${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}`,
    labels: null,
  };
}

/** `labels`: what could be put on the node so that it fits; null: nothing that is NVIDIA's to set. */
export interface WhyNot {
  because: 'label' | 'taint';
  text: string;
  labels: Record<string, string> | null;
}

function holds({ key, operator, values, isField }: PluginSpec['affinity'][number][number], node: Node): boolean {
  const value = isField ? (key === 'metadata.name' ? node.name : undefined) : node.labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** The term that labels of NVIDIA's own alone would satisfy: others are a feature discovery's to set. */
function labelsFor(affinity: PluginSpec['affinity']): Record<string, string> | null {
  for (const term of affinity) {
    const isOwn =
      term.length > 0 && term.every((one) => /^nvidia\.com\//.test(one.key) && /^(In|Exists)$/.test(one.operator));
    if (isOwn) return Object.fromEntries(term.map(({ key, values }) => [key, values[0] ?? 'true']));
  }
  return null;
}

function tolerates(spec: PluginSpec, taint: Node['taints'][number]): boolean {
  return spec.tolerations.some(
    ({ key, operator, value, effect }) =>
      (effect === null || effect === taint.effect) &&
      (key === null ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || (value ?? '') === (taint.value ?? '')),
  );
}
