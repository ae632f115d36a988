import { parseJson } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringAt, type Tree, textAt, textsAt } from '../values.ts';
import type { KubeFact } from './fact.ts';

export type KubeNode = NonNullable<KubeFact['node']>;

/** `kubectl get node NAME -o json`. */
export function parseNode(text: string): Parsed<KubeNode> {
  const document = parseJson(text);
  if (!document.ok || !isTree(document.value)) return unread('not_json');
  const node = document.value;
  const name = textAt(node, 'metadata', 'name');
  if (textAt(node, 'kind') !== 'Node' || name === null) return unread('not_a_node');
  const taints = at(node, 'spec', 'taints');
  return {
    value: {
      name,
      ready: toReady(at(node, 'status', 'conditions')),
      unschedulable: booleanAt(node, 'spec', 'unschedulable') ?? false,
      labels: textsAt(node, 'metadata', 'labels'),
      taints: (Array.isArray(taints) ? taints : []).flatMap((taint) => {
        const [key, effect] = [textAt(taint, 'key'), textAt(taint, 'effect')];
        return key === null || effect === null ? [] : [{ key, value: textAt(taint, 'value'), effect }];
      }),
      capacity: textsAt(node, 'status', 'capacity'),
      allocatable: textsAt(node, 'status', 'allocatable'),
      containerRuntimeVersion: textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion'),
      kubeletVersion: textAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
    },
    unreadable: [],
  };
}

/** Of a list that may hold other kinds too. */
export function toRuntimeClasses(items: readonly Tree[]): { name: string; handler: string }[] {
  return items.flatMap((item) => {
    const [name, handler] = [textAt(item, 'metadata', 'name'), textAt(item, 'handler')];
    return textAt(item, 'kind') !== 'RuntimeClass' || name === null || handler === null ? [] : [{ name, handler }];
  });
}

/** null: the kubelet's state is Unknown, or no condition says. */
function toReady(conditions: unknown): boolean | null {
  if (!Array.isArray(conditions)) return null;
  const status = stringAt(
    conditions.find((condition) => at(condition, 'type') === 'Ready'),
    'status',
  );
  return status === 'True' ? true : status === 'False' ? false : null;
}
