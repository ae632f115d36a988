import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { unitStatesCommands } from '../read-unit-states.ts';
import { readClusterObjects } from './cluster-objects.ts';
import type { KubeFact } from './fact.ts';
import { type Flavour, flavourFiles, readFlavour } from './flavours.ts';
import { createApi, declaredCommands } from './kubectl.ts';
import { readKubeletSockets, socketFiles } from './read-kubelet-sockets.ts';
import { logFiles, readPluginLogs } from './read-plugin-logs.ts';

const hostnamePath = '/proc/sys/kernel/hostname';

export const kubeProbe = defineProbe({
  key: 'kube',
  title: "Kubernetes on this host: cluster, role, kubelet, node, runtime classes and NVIDIA's device plugin",
  everyMs: 120_000,
  inputs: {
    files: [hostnamePath, ...flavourFiles, ...socketFiles, ...logFiles],
    commands: [...declaredCommands(), ...unitStatesCommands],
  },
  async collect(context) {
    const { host } = context;
    const partial: Gap[] = [];
    const flavour = await readFlavour(context);
    if (flavour === null) return { value: notPresent, unreadable: null };
    const clusterId = await readClusterId(context, flavour.cas, partial);
    const api = flavour.reader === null ? null : createApi(host, flavour.reader, partial);
    const { daemonSets, pluginPods, configMaps, ...objects } = await readClusterObjects(
      host,
      api,
      await readNodeName(context, flavour),
      partial,
    );
    const logs = await readPluginLogs(host, api, pluginPods ?? [], partial);
    const mounted = [...(daemonSets ?? []), ...(pluginPods ?? [])].flatMap(({ spec }) => spec.socketHostPath ?? []);
    const value: KubeFact = {
      present: true,
      distribution: flavour.distribution,
      clusterId,
      controlPlane: flavour.controlPlane,
      rights: flavour.reader?.rights ?? 'none',
      runtimeEndpoint: flavour.runtimeEndpoint,
      kubelet: {
        rootDir: flavour.rootDir,
        cgroupDriver: flavour.cgroupDriver,
        sockets: await readKubeletSockets(host, flavour.rootDir, mounted, partial),
      },
      ...objects,
      devicePlugin: { daemonSets, pods: pluginPods, logs, configMaps },
    };
    return { value, unreadable: null, partial };
  },
});

const notPresent: KubeFact = {
  present: false,
  distribution: null,
  clusterId: null,
  controlPlane: null,
  rights: null,
  runtimeEndpoint: null,
  kubelet: { rootDir: null, cgroupDriver: null, sockets: [] },
  node: null,
  runtimeClasses: null,
  pods: null,
  devicePlugin: { daemonSets: null, pods: null, logs: [], configMaps: null },
  operator: null,
  events: null,
};

async function readClusterId(
  { host, sha256 }: ProbeContext,
  cas: readonly string[],
  partial: Gap[],
): Promise<string | null> {
  let because = 'no_ca_certificate';
  for (const path of cas) {
    const read = await host.readText(path);
    if (read.ok && read.value.trim() !== '') return sha256(read.value.trim());
    if (!read.ok && read.because !== 'absent') because = read.because;
  }
  partial.push({ path: 'clusterId', because });
  return null;
}

async function readNodeName({ host }: ProbeContext, { nodeName }: Flavour): Promise<string | null> {
  if (nodeName !== null) return nodeName;
  const hostname = await host.readText(hostnamePath);
  return (hostname.ok && hostname.value.trim().toLowerCase()) || null;
}
