import type { HostReader } from '../../host/index.ts';
import type { ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import {
  belowDataDir,
  type Distribution,
  k3sDistribution,
  rancherSocket,
  rke2Distribution,
} from '../k3s/distribution.ts';
import { readK3sConfig, settingsFiles } from '../k3s/read-k3s-config.ts';
import { readRole, roleFiles } from '../k3s/read-role.ts';
import {
  microk8sKubeletArgs,
  microk8sSnapYaml,
  microk8sSocket,
  microk8sWorkerMarks,
  snapCommon,
  snapData,
} from '../microk8s/microk8s-paths.ts';
import { splitArguments } from '../read-processes.ts';
import { readUnitStates } from '../read-unit-states.ts';
import type { KubeFact } from './fact.ts';
import { adminConf, type KubeReader, kubeletConf, kubeReaders, microk8sConf, rke2Conf } from './kubectl.ts';
import { parseKubeletConfig, parseKubeletFlag } from './parse-kubelet-files.ts';

const kubeletConfig = '/var/lib/kubelet/config.yaml';
/** Flags of the kubelet as kubeadm and people write them; a later file adds to an earlier one. */
const kubeletFlags = ['/var/lib/kubelet/kubeadm-flags.env', '/etc/default/kubelet', '/etc/sysconfig/kubelet'];
const apiServerManifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const kubeadmCa = '/etc/kubernetes/pki/ca.crt';
const microk8sCa = `${snapData}/certs/ca.crt`;
/** In this order on every host of a cluster, so that all hash the same certificate. */
const caFiles = ['/agent/client-ca.crt', '/agent/server-ca.crt'];
const rancher = [k3sDistribution, rke2Distribution];

export const flavourFiles = [
  ...new Set([
    ...rancher.flatMap((distribution) => [
      ...distribution.binaries,
      ...roleFiles(distribution),
      ...settingsFiles(distribution),
      ...belowDataDir(distribution, caFiles),
    ]),
    ...[rke2Conf, microk8sSnapYaml, microk8sConf, microk8sKubeletArgs, microk8sCa, ...microk8sWorkerMarks],
    ...[kubeletConfig, ...kubeletFlags, '/proc/*/cmdline', adminConf, kubeletConf, apiServerManifest, kubeadmCa],
  ]),
];

/** What differs between the ways in which Kubernetes comes to a host. */
export interface Flavour {
  distribution: NonNullable<KubeFact['distribution']>;
  controlPlane: boolean | null;
  cas: readonly string[];
  runtimeEndpoint: string | null;
  nodeName: string | null;
  rootDir: string | null;
  cgroupDriver: string | null;
  /** null: this host has no rights to ask the API. */
  reader: KubeReader | null;
}

export async function readFlavour(context: ProbeContext): Promise<Flavour | null> {
  for (const distribution of rancher) {
    const flavour = await readRancherFlavour(context, distribution);
    if (flavour !== null) return flavour;
  }
  return (await readMicroK8sFlavour(context.host)) ?? (await readKubeadmFlavour(context.host));
}

async function readRancherFlavour(context: ProbeContext, distribution: Distribution): Promise<Flavour | null> {
  const { host } = context;
  if ((await findProgram(host, distribution.binaries)) === null) return null;
  const { role } = await readRole(host, await readUnitStates(host), distribution);
  // The program alone is no cluster: that of k3s also serves as kubectl.
  if (role === null) return null;
  const { settings } = await readK3sConfig(context, distribution);
  const dataDir = settings.dataDir ?? distribution.defaultDataDir;
  const isServer = role === 'server';
  const reader = kubeReaders[distribution.name];
  return {
    distribution: distribution.name,
    controlPlane: isServer,
    cas: caFiles.map((end) => `${dataDir}${end}`).filter(() => dataDir.split('/').length <= 5),
    runtimeEndpoint: settings.docker ? null : `unix://${rancherSocket}`,
    nodeName: settings.nodeName,
    rootDir: settings.kubeletRootDir ?? '/var/lib/kubelet',
    cgroupDriver: null,
    // The programs of rke2 lie in its data folder: one that was moved has no kubectl where we look.
    reader: isServer && (distribution.name === 'k3s' || dataDir === distribution.defaultDataDir) ? reader : null,
  };
}

async function readMicroK8sFlavour(host: HostReader): Promise<Flavour | null> {
  if ((await findProgram(host, [microk8sSnapYaml])) === null) return null;
  const args = await host.readText(microk8sKubeletArgs, { maxBytes: 200_000 });
  const flag = (name: string) => (args.ok ? parseKubeletFlag(args.value, name) : null);
  const marks = await Promise.all(microk8sWorkerMarks.map((path) => host.stat(path)));
  const isWorker = marks.every(({ ok }) => ok);
  const rootDir = flag('root-dir')?.replace(/\$\{?SNAP_COMMON\}?/, snapCommon) ?? null;
  return {
    distribution: 'microk8s',
    controlPlane: !isWorker,
    cas: [microk8sCa],
    runtimeEndpoint: `unix://${microk8sSocket}`,
    nodeName: flag('hostname-override'),
    rootDir,
    cgroupDriver: flag('cgroup-driver'),
    reader: !isWorker && (await host.stat(microk8sConf)).ok ? kubeReaders.microk8s : null,
  };
}

async function readKubeadmFlavour(host: HostReader): Promise<Flavour | null> {
  const config = await host.readText(kubeletConfig);
  if (!config.ok) return null;
  const stated = parseKubeletConfig(config.value);
  const words = await readKubeletWords(host);
  const flag = (name: string) => parseKubeletFlag(words, name);
  const controlPlane = (await host.stat(apiServerManifest)).ok;
  const isAdmin = controlPlane && (await host.stat(adminConf)).ok;
  const isNode = !isAdmin && (await host.stat(kubeletConf)).ok;
  return {
    distribution: 'kubeadm',
    controlPlane,
    cas: [kubeadmCa],
    runtimeEndpoint: stated.endpoint ?? flag('container-runtime-endpoint'),
    nodeName: flag('hostname-override'),
    rootDir: flag('root-dir') ?? '/var/lib/kubelet',
    cgroupDriver: stated.cgroupDriver ?? flag('cgroup-driver'),
    reader: isAdmin ? kubeReaders.kubeadm : isNode ? kubeReaders.kubelet : null,
  };
}

/** The arguments of the running kubelet where they can be read, before those of the files that it was started with. */
async function readKubeletWords(host: HostReader): Promise<string> {
  const units = await readUnitStates(host);
  const pid = units.find('kubelet.service')?.mainPid ?? null;
  const running = pid === null ? null : await host.readText(`/proc/${pid}/cmdline`, { maxBytes: 200_000 });
  const texts = running?.ok ? [splitArguments(running.value).join(' ')] : [];
  for (const path of [...kubeletFlags].reverse()) {
    const read = await host.readText(path, { maxBytes: 200_000 });
    if (read.ok) texts.push(read.value);
  }
  return texts.join('\n');
}
