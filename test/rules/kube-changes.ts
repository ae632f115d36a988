import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { kubeReaders, questions } from '../../packages/shared/src/probes/kube/kubectl.ts';
import type { Changes, CommandChange } from './changed-host.ts';

type Tree = Record<string, unknown>;

/** What a host of each class asks the API, as its recording has it. */
export const asked = {
  objects: { argv: [...kubeReaders.k3s.argv, ...questions.classesAndDaemonSets()] },
  node: { argv: [...kubeReaders.k3s.argv, ...questions.node('host-1')] },
  pods: { argv: [...kubeReaders.k3s.argv, ...questions.pods('host-1')] },
  configMaps: { argv: [...kubeReaders.k3s.argv, ...questions.configMaps('nvidia-device-plugin')] },
  kubeletNode: { argv: [...kubeReaders.kubelet.argv, ...questions.node('host-1')] },
  kubeletPods: { argv: [...kubeReaders.kubelet.argv, ...questions.pods('host-1')] },
} as const;

/** One answer of the API with its objects changed. */
export function answer(question: keyof typeof asked, change: (object: Tree) => void): Changes {
  return says(question, (text) => {
    const object = JSON.parse(text) as Tree;
    change(object);
    return JSON.stringify(object);
  });
}

export function says(question: keyof typeof asked, change: CommandChange): Changes {
  return { commands: { [asked[question].argv.join(' ')]: change } };
}

/** The plugin's DaemonSet, or its pod, in a list. */
export function ofPlugin(list: Tree): Tree {
  const items = list.items as { metadata: { name: string } }[];
  const found = items.find(({ metadata }) => metadata.name.includes('nvidia-device-plugin'));
  if (!found) throw new Error('no device plugin in this list');
  return found as unknown as Tree;
}

/** Where the pod template or the pod keeps what its container is made of. */
export function specOf(object: Tree): Tree & { containers: Tree[] } {
  const spec = object.spec as Tree;
  const template = spec.template as Tree | undefined;
  return (template?.spec ?? spec) as Tree & { containers: Tree[] };
}

/** Both the DaemonSet and the pod of a k3s server, changed alike. */
export function plugin(change: (spec: Tree & { containers: Tree[] }) => void): Changes[] {
  return [
    answer('objects', (list) => change(specOf(ofPlugin(list)))),
    answer('pods', (list) => change(specOf(ofPlugin(list)))),
  ];
}

/** Neither the pod nor its log is there. */
export function withoutPod(): Changes[] {
  return [
    answer('pods', (list) => {
      list.items = (list.items as Tree[]).filter((item) => item !== ofPlugin(list));
    }),
    { files: { '/var/log/pods': null } },
  ];
}

/** The node's resources, as the API tells them. */
export function resources(
  question: 'node' | 'kubeletNode',
  changes: { capacity?: Tree; allocatable?: Tree; labels?: Tree; spec?: Tree },
): Changes {
  return answer(question, (node) => {
    const [status, metadata] = [node.status as Record<string, Tree>, node.metadata as Record<string, Tree>];
    const changed = (before: Tree | undefined, by: Tree | undefined) =>
      Object.fromEntries(Object.entries({ ...before, ...by }).filter(([, value]) => value !== null));
    status.capacity = changed(status.capacity, changes.capacity);
    status.allocatable = changed(status.allocatable, changes.allocatable);
    metadata.labels = changed(metadata.labels, changes.labels);
    Object.assign(node.spec as Tree, changes.spec);
  });
}

/** The file that holds the log of the plugin's pod on a recorded host. */
export function logPath(className: SimulatedClass): string {
  const folder = '/var/log/pods';
  const [pod = ''] = readdirSync(join(import.meta.dirname, '../hosts/recorded', className, 'root', folder));
  return `${folder}/${pod}/nvidia-device-plugin-ctr/0.log`;
}

/** Lines that the plugin printed after those that it prints when it starts. */
export function logged(className: SimulatedClass, ...lines: string[]): Changes {
  const added = lines.map((line) => `2026-06-10T10:00:00.000000000Z stderr F ${line}\n`).join('');
  return { files: { [logPath(className)]: (before) => `${before}${added}` } };
}

export const blindLines = [
  'E0610 10:00:00.000000       1 factory.go:112] Incompatible strategy detected auto',
  'E0610 10:00:00.000000       1 factory.go:113] If this is a GPU node, did you configure the NVIDIA Container Toolkit?',
  'I0610 10:00:00.000000       1 main.go:381] No devices found. Waiting indefinitely.',
];
