import type { PluginDaemonSet } from '../../probes/kube/device-plugin-fact.ts';
import { reason } from '../plan-parts.ts';
import type { KubeObject, PlanReason } from '../step.ts';
import { configFolder, configVolume } from './new-daemon-set.ts';
import type { DeployDevicePluginParams } from './params.ts';

/** Keys of a DaemonSet that is there: as they are, and as they are to be. */
export interface Changes {
  from: KubeObject;
  to: KubeObject;
  because: PlanReason[];
}

export type Changed = { ok: true; changes: Changes } | { ok: false; because: PlanReason };

export interface GivenConfig {
  map: string;
  file: string;
}

interface Side {
  spec: { runtimeClassName?: string; nodeSelector?: Record<string, string>; volumes?: KubeObject[] };
  container: { image?: string; env?: { name: string; value: string }[]; volumeMounts?: KubeObject[] };
}

/** Only what the params name: all else of the DaemonSet, whoever made it, stays as it is. */
export function changesOf(
  { spec, chart, namespace, name }: PluginDaemonSet,
  params: DeployDevicePluginParams,
  config: GivenConfig | null,
): Changed {
  const no = (because: string, detail: string): Changed => ({ ok: false, because: reason(because, detail) });
  const title = `${namespace}/${name}`;
  const from: Side = { spec: {}, container: {} };
  const to: Side = { spec: {}, container: {} };
  const because: PlanReason[] = [];
  const differs = (what: string) => because.push(reason('plugin_differs', `${title}: ${what}`));
  const { version, runtimeClassName, nodeSelector, hostPath } = params;

  if (version !== undefined && version !== spec.version) {
    // An image of another release than its chart is started without what it needs.
    if (chart !== null) return no('made_by_chart', `${title} comes from chart ${chart}: upgrade that to ${version}`);
    const repository = spec.image?.replace(/[:@][^/]*$/, '') ?? 'nvcr.io/nvidia/k8s-device-plugin';
    if (spec.image !== null) from.container.image = spec.image;
    to.container.image = `${repository}:${version}`;
    differs(`image ${spec.version ?? spec.image}`);
  }
  if (runtimeClassName !== undefined && runtimeClassName !== spec.runtimeClassName) {
    if (spec.runtimeClassName !== null) from.spec.runtimeClassName = spec.runtimeClassName;
    to.spec.runtimeClassName = runtimeClassName;
    differs(`runtimeClassName ${spec.runtimeClassName ?? 'not set'}`);
  }
  const missing = Object.entries(nodeSelector ?? {}).filter(([key, value]) => spec.nodeSelector[key] !== value);
  if (missing.length > 0) {
    const keys = missing.map(([key]) => key);
    from.spec.nodeSelector = Object.fromEntries(
      Object.entries(spec.nodeSelector).filter(([key]) => keys.includes(key)),
    );
    to.spec.nodeSelector = Object.fromEntries(missing);
    differs(`nodeSelector lacks ${keys.join(', ')}`);
  }
  if (hostPath !== undefined && hostPath !== spec.socketHostPath) {
    if (spec.socketVolume === null)
      return no('plugin_unusual', `${title} mounts no folder of the kubelet that is known`);
    from.spec.volumes = [{ name: spec.socketVolume, hostPath: { path: spec.socketHostPath ?? '' } }];
    to.spec.volumes = [{ name: spec.socketVolume, hostPath: { path: hostPath } }];
    differs(`hostPath ${spec.socketHostPath ?? 'not set'}`);
  }
  const env = envOf(params, config);
  for (const [variable, value] of Object.entries(env)) {
    const flag = `--${variable.toLowerCase().replaceAll('_', '-')}`;
    if (spec.args.some((one) => one === flag || one.startsWith(`${flag}=`)))
      return no('set_by_flags', `${title} has ${flag}, which counts more than the variable: a person takes it out`);
    if (spec.env[variable] === value) continue;
    if (variable === 'MIG_STRATEGY' && value !== 'none' && (spec.env[variable] ?? 'none') === 'none')
      return no('plugin_without_mig', `${title} was made without the rights that MIG needs: make it with them`);
    const was = spec.env[variable];
    if (was === null) return no('plugin_unusual', `${title} takes ${variable} from elsewhere`);
    from.container.env = [
      ...(from.container.env ?? []),
      ...(was === undefined ? [] : [{ name: variable, value: was }]),
    ];
    to.container.env = [...(to.container.env ?? []), { name: variable, value }];
    differs(`${variable} ${was ?? 'not set'}`);
  }
  if (config !== null && !spec.configMaps.includes(config.map)) {
    if (spec.configMaps.length > 0)
      return no('plugin_has_config', `${title} is given ${spec.configMaps.join(', ')}: a person joins the two`);
    from.container.volumeMounts = [];
    to.container.volumeMounts = [{ name: configVolume, mountPath: configFolder }];
    from.spec.volumes = [...(from.spec.volumes ?? [])];
    to.spec.volumes = [...(to.spec.volumes ?? []), { name: configVolume, configMap: { name: config.map } }];
    differs(`is not given ${config.map}`);
  }
  if (spec.container === null) return no('plugin_unusual', `${title} has a container without a name`);
  return { ok: true, changes: { from: sideOf(from, spec.container), to: sideOf(to, spec.container), because } };
}

function envOf(params: DeployDevicePluginParams, config: GivenConfig | null): Record<string, string> {
  return {
    ...(params.migStrategy && { MIG_STRATEGY: params.migStrategy }),
    ...(params.deviceListStrategy && { DEVICE_LIST_STRATEGY: params.deviceListStrategy }),
    ...(config && { CONFIG_FILE: config.file }),
  };
}

function sideOf({ spec, container }: Side, name: string): KubeObject {
  const containers = Object.keys(container).length > 0 ? [{ name, ...container }] : undefined;
  return { spec: { template: { spec: { ...spec, ...(containers && { containers }) } } } };
}
