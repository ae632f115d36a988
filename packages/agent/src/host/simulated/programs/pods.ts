import { gpuPod } from '../classes/workloads.ts';
import type { Machine } from '../machine.ts';
import { nodeEngine } from '../node-engine.ts';
import { type Answer, matches, type Program, printed } from './program.ts';

/** `crictl pods -o json`: the sandboxes, the newest first. */
export function criPods(machine: Machine): Answer {
  const pod = nodeEngine(machine) === null ? undefined : gpuPod(machine);
  if (!pod) return printed(`${JSON.stringify({ items: [] }, null, 2)}\n`);
  const { uid, name, namespace } = pod;
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  };
  const sandbox = {
    id: machine.random.hex('sandbox/inference', 64),
    metadata: { name, uid, namespace, attempt: 0 },
    state: 'SANDBOX_READY',
    createdAt: String(machine.boot.atMs * 1_000_000),
    labels,
    annotations: { 'kubernetes.io/config.source': 'api' },
    runtimeHandler: 'nvidia',
  };
  return printed(`${JSON.stringify({ items: [sandbox] }, null, 2)}\n`);
}

/** What engines and systemd said in this boot: nothing that a search for GPU failures, or for reloads, would find. */
export const journalOfUnits: Program = (_machine, args) => {
  const common = ['--boot=0', '--no-pager', '--quiet', '--output=short-unix'];
  const isSearch = matches(args.slice(0, 4), ...common) && args.some((arg) => arg.startsWith('--grep='));
  return isSearch ? { exitCode: 1, stdout: '', stderr: '' } : undefined;
};
