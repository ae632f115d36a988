import { at, listAt, type Tree, textAt, treeAt } from '../values.ts';
import type { NodePod } from './fact.ts';

/** What is to be known of a pod before it is evicted. */
export interface PodToEvict extends NodePod {
  uid: string;
}

/** Pods of a node that a drain would evict, if they may be. */
export function toPodsToEvict(items: readonly Tree[]): PodToEvict[] {
  return items.flatMap((item) => {
    const [namespace, name] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    const uid = textAt(item, 'metadata', 'uid');
    if (namespace === null || name === null || uid === null) return [];
    if (/^(Succeeded|Failed)$/.test(textAt(item, 'status', 'phase') ?? '')) return [];
    // Made from a file on the host: what the API shows is a mirror.
    if (textAt(item, 'metadata', 'annotations', 'kubernetes.io/config.mirror') !== null) return [];
    const controller = controllerOf(item);
    if (controller === 'DaemonSet') return [];
    const hasEmptyDir = listAt(item, 'spec', 'volumes').some((volume) => at(volume, 'emptyDir') !== undefined);
    return [{ namespace, name, uid, controller, usesGpu: usesGpu(item), hasEmptyDir }];
  });
}

export function toNodePods(items: readonly Tree[]): NodePod[] {
  return toPodsToEvict(items).map(({ uid: _, ...pod }) => pod);
}

function controllerOf(item: Tree): string | null {
  const owner = listAt(item, 'metadata', 'ownerReferences').find((one) => at(one, 'controller') === true);
  return textAt(owner, 'kind');
}

function usesGpu(item: Tree): boolean {
  if (textAt(item, 'spec', 'runtimeClassName')?.startsWith('nvidia')) return true;
  const containers = [...listAt(item, 'spec', 'containers'), ...listAt(item, 'spec', 'initContainers')];
  return containers.some((container) =>
    Object.keys(treeAt(container, 'resources', 'limits') ?? {}).some((name) => name.startsWith('nvidia.com/')),
  );
}
