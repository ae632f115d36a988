import type { Kubernetes, Machine } from '../machine.ts';
import { logChange } from './cluster-log.ts';
import { type Created, changePlugin, createPluginObject, renewPlugin } from './device-plugin-changes.ts';
import { pluginState } from './device-plugin-log.ts';
import { nodeObject, runtimeClasses } from './kube-objects.ts';
import { type Answer, complained, printed } from './program.ts';

type Json = Record<string, unknown>;

/** What changes objects of the cluster, and how one object is asked for; undefined: another question. */
export function changeCluster(
  machine: Machine,
  kubernetes: Kubernetes,
  args: readonly string[],
  input: string | undefined,
): Answer | undefined {
  const [verb, kind = '', name = ''] = args;
  if (verb === 'create' && kind === '--raw') return evict(machine, kubernetes, name, input);
  if (verb === 'create') return create(machine, kubernetes, input);
  if (verb === 'get' && kind === 'runtimeclass') return getClass(machine, kubernetes, name);
  if (verb === 'patch' && kind === 'node') return patchNode(machine, kubernetes, name, args);
  if (verb === 'patch' && kind === 'runtimeclass') return refuseHandler(kubernetes, name);
  if (verb === 'delete' && kind === 'runtimeclass') return removeClass(machine, kubernetes, name);
  return changePlugin(machine, kubernetes, args);
}

export function isChange([verb]: readonly string[]): boolean {
  return verb === 'create' || verb === 'patch' || verb === 'delete';
}

function evict(machine: Machine, kubernetes: Kubernetes, path: string, input = ''): Answer {
  const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/.exec(path) ?? [];
  const pod = kubernetes.pods.find((one) => one.namespace === namespace && one.name === name && !one.isPending);
  if (!pod) return complained(`Error from server (NotFound): pods "${name}" not found\n`);
  const eviction = JSON.parse(input) as { kind?: unknown; metadata?: { name?: unknown } };
  if (eviction.kind !== 'Eviction' || eviction.metadata?.name !== name)
    return complained('Error from server (BadRequest): name in URL does not match name in Eviction object\n');
  if (!pod.mayGo)
    return complained(
      "Error from server (TooManyRequests): Cannot evict pod as it would violate the pod's disruption budget.\n",
    );
  if (pod.controller === null) kubernetes.pods.splice(kubernetes.pods.indexOf(pod), 1);
  else pod.isPending = true;
  logChange(machine, `evict ${namespace}/${name}`);
  place(kubernetes);
  return printed('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}\n');
}

/** What waits for a node gets this one as soon as it takes pods. */
function place(kubernetes: Kubernetes): void {
  if (kubernetes.unschedulable) return;
  for (const pod of kubernetes.pods.filter(({ isPending }) => isPending)) {
    pod.isPending = false;
    pod.runs += 1;
  }
}

function patchNode(machine: Machine, kubernetes: Kubernetes, name: string, args: readonly string[]): Answer {
  if (name !== kubernetes.nodeName) return complained(`Error from server (NotFound): nodes "${name}" not found\n`);
  const patch = JSON.parse(args[args.indexOf('-p') + 1] ?? '{}') as { metadata?: Json; spec?: Json };
  const before = JSON.stringify(nodeObject(machine, kubernetes));
  merge(kubernetes.annotations, patch.metadata?.annotations);
  const state = pluginState(machine);
  merge(kubernetes.labels, patch.metadata?.labels);
  if (state !== pluginState(machine)) renewPlugin(machine);
  if (patch.spec && 'unschedulable' in patch.spec) kubernetes.unschedulable = patch.spec.unschedulable === true;
  place(kubernetes);
  const isSame = before === JSON.stringify(nodeObject(machine, kubernetes));
  if (!isSame) logChange(machine, `patch node ${name}`);
  return printed(`node/${name} patched${isSame ? ' (no change)' : ''}\n`);
}

function merge(into: Record<string, string>, changes: unknown): void {
  for (const [key, value] of Object.entries(changes ?? {}))
    if (value === null) delete into[key];
    else into[key] = String(value);
}

function create(machine: Machine, kubernetes: Kubernetes, input = ''): Answer | undefined {
  const object = JSON.parse(input) as Created & { handler?: unknown };
  const [name, handler] = [String(object.metadata?.name), String(object.handler)];
  if (object.kind !== 'RuntimeClass') return createPluginObject(machine, kubernetes, object);
  if (kubernetes.runtimeClasses.some((one) => one.name === name))
    return complained(
      `Error from server (AlreadyExists): error when creating "STDIN": runtimeclasses.node.k8s.io "${name}" already exists\n`,
    );
  kubernetes.runtimeClasses.push({ name, handler });
  // The API lists by name.
  kubernetes.runtimeClasses.sort((a, b) => (a.name < b.name ? -1 : 1));
  logChange(machine, `create runtimeclass ${name}`);
  return printed(`runtimeclass.node.k8s.io/${name} created\n`);
}

function getClass(machine: Machine, kubernetes: Kubernetes, name: string): Answer {
  const at = kubernetes.runtimeClasses.findIndex((one) => one.name === name);
  if (at < 0) return absentClass(name);
  return printed(`${JSON.stringify(runtimeClasses(machine, kubernetes)[at], null, 4)}\n`);
}

function removeClass(machine: Machine, kubernetes: Kubernetes, name: string): Answer {
  const at = kubernetes.runtimeClasses.findIndex((one) => one.name === name);
  if (at < 0) return absentClass(name);
  kubernetes.runtimeClasses.splice(at, 1);
  logChange(machine, `delete runtimeclass ${name}`);
  return printed(`runtimeclass.node.k8s.io "${name}" deleted\n`);
}

function refuseHandler({ runtimeClasses: classes }: Kubernetes, name: string): Answer {
  if (!classes.some((one) => one.name === name)) return absentClass(name);
  return complained(`The RuntimeClass "${name}" is invalid: handler: Invalid value: field is immutable\n`);
}

function absentClass(name: string): Answer {
  return complained(`Error from server (NotFound): runtimeclasses.node.k8s.io "${name}" not found\n`);
}
