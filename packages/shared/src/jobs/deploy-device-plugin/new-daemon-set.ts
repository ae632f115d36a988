import type { KubeObject } from '../step.ts';
import { type DeployDevicePluginParams, pinnedVersion } from './params.ts';

export const ownNamespace = 'kube-system';
export const ownName = 'gpufleet-nvidia-device-plugin';
export const ownConfigMap = 'gpufleet-device-plugin';
export const configVolume = 'gpufleet-config';
export const configFolder = '/config';
export const configKey = 'config.yaml';
const usualFolder = '/var/lib/kubelet/device-plugins';
const labels = { 'app.kubernetes.io/name': ownName };

/** NVIDIA's device plugin, as we deploy it where there is none. */
export function newDaemonSet(params: DeployDevicePluginParams, configFile: string | null): KubeObject {
  const { migStrategy = 'none', runtimeClassName = 'nvidia', hostPath = usualFolder, deviceListStrategy } = params;
  const env = {
    MIG_STRATEGY: migStrategy,
    FAIL_ON_INIT_ERROR: 'false',
    NVIDIA_VISIBLE_DEVICES: 'all',
    NVIDIA_DRIVER_CAPABILITIES: 'compute,utility',
    // What it takes to look at MIG devices of other containers.
    ...(migStrategy === 'none' ? {} : { NVIDIA_MIG_MONITOR_DEVICES: 'all' }),
    ...(deviceListStrategy && { DEVICE_LIST_STRATEGY: deviceListStrategy }),
    ...(configFile !== null && { CONFIG_FILE: configFile }),
  };
  const map = params.configMap ?? ownConfigMap;
  const given = configFile !== null;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { labels: { ...labels, 'app.kubernetes.io/managed-by': 'gpufleet' } },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels },
        spec: {
          runtimeClassName,
          priorityClassName: 'system-node-critical',
          ...(params.nodeSelector && { nodeSelector: params.nodeSelector }),
          tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
          containers: [
            {
              name: 'nvidia-device-plugin-ctr',
              image: `nvcr.io/nvidia/k8s-device-plugin:${params.version ?? pinnedVersion}`,
              env: Object.entries(env).map(([name, value]) => ({ name, value })),
              securityContext:
                migStrategy === 'none'
                  ? { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
                  : { capabilities: { add: ['SYS_ADMIN'] } },
              volumeMounts: [
                { name: 'device-plugin', mountPath: usualFolder },
                ...(given ? [{ name: configVolume, mountPath: configFolder }] : []),
              ],
            },
          ],
          volumes: [
            { name: 'device-plugin', hostPath: { path: hostPath } },
            ...(given ? [{ name: configVolume, configMap: { name: map } }] : []),
          ],
        },
      },
    },
  };
}

/** Sharing of GPUs, as the plugin reads it. JSON is YAML too. */
export function sharingConfigMap(timeSlicing: Record<string, number>): KubeObject {
  const resources = Object.entries(timeSlicing).map(([name, replicas]) => ({ name, replicas }));
  const config = { version: 'v1', sharing: { timeSlicing: { resources } } };
  return { apiVersion: 'v1', kind: 'ConfigMap', data: { [configKey]: `${JSON.stringify(config, null, 2)}\n` } };
}
