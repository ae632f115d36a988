import type { HostReader } from '../../host/index.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { k3sBinaries, k3sDataDir, k3sRoleFiles, readK3sRole } from '../k3s/k3s-role.ts';
import { k3sConfigFiles, readK3sConfig } from '../k3s/read-k3s-config.ts';
import type { Gap } from '../parsed.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { KubeFact } from './fact.ts';
import { parseKubeletEndpoint, parseKubeletFlag } from './parse-kubelet-files.ts';
import { parseNode, parseRuntimeClasses } from './parse-node.ts';

const hostnamePath = '/proc/sys/kernel/hostname';
const kubeletConfig = '/var/lib/kubelet/config.yaml';
const kubeadmFlags = '/var/lib/kubelet/kubeadm-flags.env';
const adminConf = '/etc/kubernetes/admin.conf';
const kubeletConf = '/etc/kubernetes/kubelet.conf';
const apiServerManifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const k3sSocket = 'unix:///run/k3s/containerd/containerd.sock';
/** In this order on every host of a cluster, so that all hash the same certificate. */
const k3sCas = [`${k3sDataDir}/agent/client-ca.crt`, `${k3sDataDir}/agent/server-ca.crt`];
const kubeadmCas = ['/etc/kubernetes/pki/ca.crt'];

/** `*` in the declared commands stands for the node's name. */
const readers = [
  ['k3s', 'kubectl'],
  ['kubectl', '--kubeconfig', adminConf],
  ['kubectl', '--kubeconfig', kubeletConf],
] as const;
const nodeArgv = (reader: readonly string[], name: string) => [...reader, 'get', 'node', name, '-o', 'json'];
const classesArgv = (reader: readonly string[]) => [...reader, 'get', 'runtimeclass', '-o', 'json'];

/** What differs between the ways in which Kubernetes comes to a host. */
interface Flavour {
  controlPlane: boolean | null;
  cas: readonly string[];
  runtimeEndpoint: string | null;
  nodeName: string | null;
  /** kubectl with the rights that this host has; null: it has none. */
  reader: readonly string[] | null;
}

export const kubeProbe = defineProbe({
  key: 'kube',
  title: "Kubernetes on this host: cluster, role, the node's state and the runtime classes",
  everyMs: 60_000,
  inputs: {
    files: [
      ...[hostnamePath, kubeletConfig, kubeadmFlags, adminConf, kubeletConf, apiServerManifest],
      ...[...k3sCas, ...kubeadmCas, ...k3sBinaries, ...k3sRoleFiles, ...k3sConfigFiles],
    ],
    commands: [
      ...readers.flatMap((reader) => [
        { argv: nodeArgv(reader, '*'), required: false },
        { argv: classesArgv(reader), required: false },
      ]),
      ...unitStatesCommands,
    ],
  },
  async collect(context) {
    const partial: Gap[] = [];
    const flavour = (await readK3sFlavour(context, partial)) ?? (await readKubeadmFlavour(context));
    if (flavour === null) return { value: notPresent, unreadable: null };
    const value = {
      present: true,
      clusterId: await readClusterId(context, flavour.cas, partial),
      controlPlane: flavour.controlPlane,
      runtimeEndpoint: flavour.runtimeEndpoint,
      node: await readNode(context.host, flavour, partial),
      runtimeClasses: await readRuntimeClasses(context.host, flavour, partial),
    };
    return { value, unreadable: null, partial };
  },
});

const notPresent: KubeFact = {
  present: false,
  clusterId: null,
  controlPlane: null,
  runtimeEndpoint: null,
  node: null,
  runtimeClasses: null,
};

async function readK3sFlavour(context: ProbeContext, partial: Gap[]): Promise<Flavour | null> {
  if ((await findProgram(context.host, k3sBinaries)) === null) return null;
  const units = await readUnitStates(context.host);
  const { role } = await readK3sRole(context.host, units);
  // The program alone is no cluster: it also serves as kubectl.
  if (role === null) return null;
  const { settings } = await readK3sConfig(context);
  if (settings.dataDir !== null && settings.dataDir !== k3sDataDir)
    partial.push({ path: 'clusterId', because: 'other_data_dir' });
  return {
    controlPlane: role === 'server',
    cas: k3sCas,
    runtimeEndpoint: settings.docker ? null : k3sSocket,
    nodeName: settings.nodeName,
    reader: role === 'server' ? readers[0] : null,
  };
}

async function readKubeadmFlavour({ host }: ProbeContext): Promise<Flavour | null> {
  const config = await host.readText(kubeletConfig);
  if (!config.ok) return null;
  const flags = await host.readText(kubeadmFlags);
  const flag = (name: string) => (flags.ok ? parseKubeletFlag(flags.value, name) : null);
  const controlPlane = (await host.stat(apiServerManifest)).ok;
  const reader = controlPlane && (await host.stat(adminConf)).ok ? readers[1] : readers[2];
  return {
    controlPlane,
    cas: kubeadmCas,
    runtimeEndpoint: parseKubeletEndpoint(config.value) ?? flag('container-runtime-endpoint'),
    nodeName: flag('hostname-override'),
    reader: reader === readers[2] && !(await host.stat(kubeletConf)).ok ? null : reader,
  };
}

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

async function readNode(host: HostReader, flavour: Flavour, partial: Gap[]): Promise<KubeFact['node']> {
  const hostname = await host.readText(hostnamePath);
  const name = flavour.nodeName ?? (hostname.ok ? hostname.value.trim().toLowerCase() : '');
  if (flavour.reader === null || name === '') {
    partial.push({ path: 'node', because: flavour.reader === null ? 'no_rights_here' : 'no_node_name' });
    return null;
  }
  return ask(host, nodeArgv(flavour.reader, name), 'node', parseNode, partial);
}

async function readRuntimeClasses(
  host: HostReader,
  { reader }: Flavour,
  partial: Gap[],
): Promise<KubeFact['runtimeClasses']> {
  if (reader !== null) return ask(host, classesArgv(reader), 'runtimeClasses', parseRuntimeClasses, partial);
  partial.push({ path: 'runtimeClasses', because: 'no_rights_here' });
  return null;
}

async function ask<T>(
  host: HostReader,
  argv: readonly string[],
  path: string,
  parse: (text: string) => { value: T | null; unreadable: Gap[] },
  partial: Gap[],
): Promise<T | null> {
  const said = await runCommand(host, argv);
  const parsed = said.ok && said.ran.exitCode === 0 ? parse(said.text) : null;
  if (parsed?.value) return parsed.value;
  const because = said.ok ? (parsed?.unreadable[0]?.because ?? `not_answering: ${firstLine(said.ran)}`) : said.because;
  partial.push({ path, because });
  return null;
}
