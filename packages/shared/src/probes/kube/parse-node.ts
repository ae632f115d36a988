import { parseJson } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringAt, textAt, treeAt } from '../values.ts';
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
      labels: toTexts(treeAt(node, 'metadata', 'labels')),
      taints: (Array.isArray(taints) ? taints : []).flatMap((taint) => {
        const [key, effect] = [textAt(taint, 'key'), textAt(taint, 'effect')];
        return key === null || effect === null ? [] : [{ key, value: textAt(taint, 'value'), effect }];
      }),
      capacity: toTexts(treeAt(node, 'status', 'capacity')),
      allocatable: toTexts(treeAt(node, 'status', 'allocatable')),
      containerRuntimeVersion: textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion'),
      kubeletVersion: textAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
    },
    unreadable: [],
  };
}

/** `kubectl get runtimeclass -o json`. */
export function parseRuntimeClasses(text: string): Parsed<{ name: string; handler: string }[]> {
  const document = parseJson(text);
  const items = document.ok ? at(document.value, 'items') : undefined;
  if (!Array.isArray(items)) return unread('not_a_list');
  const value = items.flatMap((item) => {
    const [name, handler] = [textAt(item, 'metadata', 'name'), textAt(item, 'handler')];
    return name === null || handler === null ? [] : [{ name, handler }];
  });
  return { value, unreadable: [] };
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

function toTexts(tree: object | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tree ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
