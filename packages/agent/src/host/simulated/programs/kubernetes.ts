import { certificate } from '../classes/engines.ts';
import type { Kubernetes, Machine } from '../machine.ts';
import { unimplemented, unreachable } from './containerd.ts';
import { criInfo } from './cri-info.ts';
import { configMapObject } from './device-plugin-changes.ts';
import { daemonSets, podsOfNode } from './device-plugin-objects.ts';
import { changeCluster, isChange } from './kube-changes.ts';
import { nodeObject, runtimeClasses } from './kube-objects.ts';
import { criPods } from './pods.ts';
import { type Answer, complained, matches, type Program, printed } from './program.ts';

const endpoint = 'unix:///run/k3s/containerd/containerd.sock';

export const k3s: Program = (machine, args, input) => {
  if (matches(args, '--version')) {
    return printed(
      `k3s version ${machine.versions.k3s} (${machine.random.hex('k3s/commit', 8)})\ngo version go1.24.6\n`,
    );
  }
  if (matches(args, 'crictl', 'info')) {
    const cri = machine.live.k3s?.cri;
    if (!cri) return complained(unreachable(endpoint, '/run/k3s/containerd/containerd.sock'));
    return cri.state === 'ok' ? printed(criInfo(cri, 2)) : complained(unimplemented(endpoint));
  }
  if (matches(args, 'crictl', 'pods', '-o', 'json')) return criPods(machine);
  if (args[0] !== 'kubectl') return undefined;
  if (!machine.files.has('/etc/rancher/k3s/k3s.yaml')) {
    return complained(
      'The connection to the server localhost:8080 was refused - did you specify the right host or port?\n',
    );
  }
  if (!machine.live.k3s) return complained(refused('127.0.0.1:6443'));
  return answer(machine, args.slice(1), 'admin', input);
};

export const rke2: Program = (machine, args) =>
  matches(args, '--version')
    ? printed(
        `rke2 version ${machine.versions.k3s} (${machine.random.hex('rke2/commit', 40)})\ngo version go1.24.6 X:boringcrypto\n`,
      )
    : undefined;

export const kubectl: Program = (machine, args, input) => {
  const [option, path] = args;
  if (option !== '--kubeconfig' || path === undefined) return undefined;
  if (!machine.files.has(path)) return complained(`error: stat ${path}: no such file or directory\n`);
  if (path.startsWith('/etc/rancher/') && !machine.live.k3s) return complained(refused('127.0.0.1:6443'));
  const kubelite = machine.units.get('snap.microk8s.daemon-kubelite.service');
  if (path.startsWith('/var/snap/microk8s/') && kubelite?.active !== 'active')
    return complained(refused('127.0.0.1:16443'));
  return answer(machine, args.slice(2), path.endsWith('/kubelet.conf') ? 'node' : 'admin', input);
};

function answer(
  machine: Machine,
  args: readonly string[],
  rights: 'admin' | 'node',
  input: string | undefined,
): Answer | undefined {
  const { kubernetes } = machine;
  if (!kubernetes) return complained(refused('localhost:8080'));
  if (rights === 'node' && isChange(args)) return forbidden(kubernetes.nodeName, args[1] ?? '');
  return changeCluster(machine, kubernetes, args, input) ?? get(machine, kubernetes, args, rights);
}

/** What is asked for of the API: a kubelet's rights end at its own node, its pods and the runtime classes. */
function get(
  machine: Machine,
  kubernetes: Kubernetes,
  args: readonly string[],
  rights: 'admin' | 'node',
): Answer | undefined {
  const [verb, kind, name] = args;
  if (verb !== 'get' || args.slice(-2).join(' ') !== '-o json') return undefined;
  if ((kind === 'node' || kind === 'nodes') && args.length === 5 && name !== undefined) {
    if (name !== kubernetes.nodeName) return complained(`Error from server (NotFound): nodes "${name}" not found\n`);
    return printed(`${JSON.stringify(nodeObject(machine, kubernetes), null, 4)}\n`);
  }
  const asked = args.slice(1, -2).join(' ');
  if (asked === 'runtimeclasses') return list(runtimeClasses(machine, kubernetes));
  if (asked === `pods -A --field-selector spec.nodeName=${kubernetes.nodeName}`)
    return list(podsOfNode(machine, kubernetes));
  if (rights === 'node') return forbidden(kubernetes.nodeName, kind ?? '');
  if (asked === 'runtimeclasses,daemonsets -A')
    return list([...runtimeClasses(machine, kubernetes), ...daemonSets(machine, kubernetes)]);
  if (/^configmaps -n \S+$/.test(asked)) {
    const own = Object.entries(kubernetes.configMaps).filter(([id]) => id.startsWith(`${args[3]}/`));
    const maps = own.map(([id, data]) => configMapObject(id, data));
    return list([...maps, rootCertificates(machine, args[3] ?? '')]);
  }
  if (asked === 'events -A --field-selector type=Warning,involvedObject.kind=Pod') return list([]);
  return undefined;
}

function forbidden(node: string, kind: string): Answer {
  return complained(
    `Error from server (Forbidden): ${kind} is forbidden: User "system:node:${node}" cannot list resource "${kind}"\n`,
  );
}

function list(items: object[]): Answer {
  return printed(
    `${JSON.stringify({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } }, null, 4)}\n`,
  );
}

/** Every namespace has this one. */
function rootCertificates(machine: Machine, namespace: string): object {
  return {
    apiVersion: 'v1',
    data: { 'ca.crt': certificate(machine.name) },
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt', namespace },
  };
}

function refused(server: string): string {
  return `The connection to the server ${server} was refused - did you specify the right host or port?\n`;
}
