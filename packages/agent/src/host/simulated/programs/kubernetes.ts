import type { Machine } from '../machine.ts';
import { unimplemented, unreachable } from './containerd.ts';
import { criInfo } from './cri-info.ts';
import { nodeObject, runtimeClassList } from './kube-objects.ts';
import { type Answer, complained, matches, type Program, printed } from './program.ts';

const endpoint = 'unix:///run/k3s/containerd/containerd.sock';

export const k3s: Program = (machine, args) => {
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
  if (args[0] !== 'kubectl') return undefined;
  if (!machine.files.has('/etc/rancher/k3s/k3s.yaml')) {
    return complained(
      'The connection to the server localhost:8080 was refused - did you specify the right host or port?\n',
    );
  }
  if (!machine.live.k3s) return complained(refused('127.0.0.1:6443'));
  return get(machine, args.slice(1));
};

export const kubectl: Program = (machine, args) => {
  const [option, path] = args;
  if (option !== '--kubeconfig' || path === undefined) return undefined;
  if (!machine.files.has(path)) return complained(`error: stat ${path}: no such file or directory\n`);
  const rest = args.slice(2).filter((arg) => !arg.startsWith('--request-timeout'));
  return get(machine, rest);
};

function get(machine: Machine, args: readonly string[]): Answer | undefined {
  const { kubernetes } = machine;
  if (!kubernetes) return complained(refused('localhost:8080'));
  const [verb, kind, name] = args;
  if (verb !== 'get' || args.slice(-2).join(' ') !== '-o json') return undefined;
  if ((kind === 'node' || kind === 'nodes') && args.length === 5 && name !== undefined) {
    if (name !== kubernetes.nodeName) return complained(`Error from server (NotFound): nodes "${name}" not found\n`);
    return printed(`${JSON.stringify(nodeObject(machine, kubernetes), null, 4)}\n`);
  }
  if ((kind === 'runtimeclass' || kind === 'runtimeclasses') && args.length === 4) {
    return printed(`${JSON.stringify(runtimeClassList(machine, kubernetes), null, 4)}\n`);
  }
  return undefined;
}

function refused(server: string): string {
  return `The connection to the server ${server} was refused - did you specify the right host or port?\n`;
}
