import type { PluginDaemonSet } from '../../probes/kube/device-plugin-fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import type { Kube } from './device-plugin-parts.ts';

const label = 'nvidia.com/device-plugin.config';

export const devicePluginConfigNotApplied = defineRule({
  code: 'DEVICE_PLUGIN_CONFIG_NOT_APPLIED',
  layer: 'kubernetes',
  severity: 'warning',
  title:
    'A ConfigMap has a configuration for the device plugin, and the plugin is not given it, the node’s label names none of its keys, its keys stand at the wrong level, or the plugin printed another',
  notWhen:
    'the ConfigMap was made less than two minutes ago; hosts that may not list ConfigMaps (a server of the cluster tells); more GPUs than cards, which is what sharing does',
  proposes: ['deploy_device_plugin'],
  needs: ['kube'],
  excludedBy: ({ kube }) => kube !== null && (!kube.present || kube.rights !== 'admin'),
  check({ kube }, asked) {
    const { daemonSets, configMaps } = kube.devicePlugin;
    if (daemonSets === null || configMaps === null) {
      const because =
        asked.unread('kube', 'devicePlugin.configMaps') ?? asked.unread('kube', 'devicePlugin.daemonSets');
      return { cannotTell: `the ConfigMaps of the device plugin could not be listed: ${because ?? 'no reason'}` };
    }
    for (const daemonSet of daemonSets) {
      const beside = configMaps.filter(({ namespace, isFresh }) => namespace === daemonSet.namespace && !isFresh);
      const problem = problemOf(kube, daemonSet, beside);
      if (problem) return [problem];
    }
    return [];
  },
});

type ConfigMap = NonNullable<Kube['devicePlugin']['configMaps']>[number];

function problemOf(kube: Kube, daemonSet: PluginDaemonSet, beside: ConfigMap[]): Found | null {
  const { spec } = daemonSet;
  const name = `${daemonSet.namespace}/${daemonSet.name}`;
  const isGiven =
    spec.configMaps.length > 0 || 'CONFIG_FILE' in spec.env || spec.args.some((one) => one.startsWith('--config-file'));
  const given = beside.find((map) => spec.configMaps.includes(map.name));
  const map = given ?? (isGiven ? undefined : beside[0]);
  if (map === undefined) return null;
  const mapName = `${map.namespace}/${map.name}`;
  const mapSource = sources.configMaps(kube, map.namespace);
  for (const [key, config] of Object.entries(map.configs))
    if (config.misplaced.length > 0)
      return {
        subject: null,
        severity: 'warning',
        summary: `${mapName} has ${config.misplaced.join(', ')} where the device plugin does not look: it goes on without`,
        evidence: [{ source: mapSource, quote: `${mapName} ${key}: ${config.misplaced.join(', ')}` }],
        remedy: null,
        person: `Move ${config.misplaced.join(', ')} of ${key} in ${mapName} to the right place (sharing.timeSlicing, sharing.mps, flags.…), then restart the device plugin.`,
      };
  const job = { kind: 'deploy_device_plugin' as const, params: { configMap: map.name } };
  const remedy = { jobs: [job], approval: 'auto' as const };
  if (given === undefined)
    return {
      subject: null,
      severity: 'warning',
      summary: `${mapName} has a configuration for the device plugin, and ${name} is not given it`,
      evidence: [
        { source: mapSource, quote: `${mapName}: ${describe(map)}` },
        {
          source: sources.daemonSets(kube),
          quote: `${name}: no volume of a ConfigMap, no CONFIG_FILE, no --config-file`,
        },
        ...printedEvidence(kube),
      ],
      remedy,
      person: null,
    };
  const wanted = kube.node?.labels[label];
  if (wanted !== undefined && !(wanted in map.configs))
    return {
      subject: null,
      severity: 'warning',
      summary: `The node asks for the configuration ${wanted}, which ${mapName} has not: the device plugin keeps the one it has`,
      evidence: [
        { source: sources.node(kube), quote: `${label}=${wanted}` },
        { source: mapSource, quote: `${mapName}: ${Object.keys(map.configs).join(', ')}` },
      ],
      remedy: null,
      person: `Set the label ${label} of the node to one of: ${Object.keys(map.configs).join(', ')}.`,
    };
  const keys = Object.keys(map.configs);
  const key = wanted ?? (keys.length === 1 ? keys[0] : undefined);
  const config = key === undefined ? undefined : map.configs[key];
  const printed = kube.devicePlugin.logs.find((log) => log.config !== null);
  const isOld =
    printed?.config &&
    config &&
    (isUnlike(config.timeSlicing, printed.config.timeSlicing) || isUnlike(config.mps, printed.config.mps));
  if (!isOld) return null;
  return {
    subject: null,
    severity: 'warning',
    summary: `The device plugin runs with another sharing than ${mapName} has: it was not restarted since`,
    evidence: [{ source: mapSource, quote: `${mapName}: ${describe(map)}` }, ...printedEvidence(kube)],
    remedy,
    person: null,
  };
}

function isUnlike(wanted: Record<string, number> | null, printed: Record<string, number> | null): boolean {
  const text = (one: Record<string, number> | null) => JSON.stringify(Object.entries(one ?? {}).sort());
  return text(wanted) !== text(printed);
}

function printedEvidence(kube: Kube): Found['evidence'] {
  return kube.devicePlugin.logs
    .filter(({ config }) => config !== null)
    .slice(0, 1)
    .map(({ source, config }) => ({
      source,
      quote: `Running with config: ${sharingText(config?.timeSlicing ?? config?.mps ?? null)}`,
    }));
}

function describe(map: ConfigMap): string {
  return Object.entries(map.configs)
    .map(([key, { timeSlicing, mps }]) => `${key}: ${sharingText(timeSlicing ?? mps)}`)
    .join('; ');
}

function sharingText(replicas: Record<string, number> | null): string {
  const pairs = Object.entries(replicas ?? {}).map(([name, count]) => `${name} replicas ${count}`);
  return pairs.length > 0 ? pairs.join(', ') : 'no sharing';
}
