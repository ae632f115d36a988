import { at, isTree, stringAt } from '../values.ts';
import { jsonOf } from './json-of.ts';

/** A device that the kubelet gave to a container. */
export interface DeviceEntry {
  podUid: string;
  container: string;
  resource: string;
  devices: string[];
}

/** The kubelet's record of what it gave out (`kubelet_internal_checkpoint`), NVIDIA's resources only; null: it is none. */
export function parseDeviceCheckpoint(text: string): DeviceEntry[] | null {
  const data = at(jsonOf(text), 'Data');
  if (!isTree(data)) return null;
  const entries = at(data, 'PodDeviceEntries');
  if (!Array.isArray(entries)) return [];
  return entries.filter(isTree).flatMap((entry) => {
    const resource = stringAt(entry, 'ResourceName') ?? '';
    if (!resource.startsWith('nvidia.com/')) return [];
    const podUid = stringAt(entry, 'PodUID') ?? '';
    return [
      {
        podUid,
        container: stringAt(entry, 'ContainerName') ?? '',
        resource,
        devices: devicesOf(at(entry, 'DeviceIDs')),
      },
    ];
  });
}

/** A list before Kubernetes 1.20, lists by NUMA zone since. */
function devicesOf(value: unknown): string[] {
  const lists = Array.isArray(value) ? [value] : isTree(value) ? Object.values(value) : [];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.filter((id): id is string => typeof id === 'string') : [],
  );
}
