import type { ProbeKey } from './facts.ts';

/**
 * Values that change while nothing happens to the host. They are sent along with a section and left out of its hash and
 * of the history: a section is sent again when something else in it changed. `*` stands for every element of a list.
 */
export const volatilePaths: Partial<Record<ProbeKey, readonly string[]>> = {
  // Of a service that systemd starts again and again; that it did start is told by its state and time.
  units: ['units.*.mainPid'],
  containerd: ['unit.mainPid'],
  crio: ['unit.mainPid'],
  k3s: ['unit.mainPid'],
  rke2: ['unit.mainPid'],
  microk8s: ['unit.mainPid'],
  fabric: ['managerUnit.mainPid'],
  cdi: ['refresh.service.mainPid'],
  // Now less the uptime: it moves with the clock.
  os: ['bootedAtMs'],
  gpus: [
    'gpus.*.memoryUsedMiB',
    'gpus.*.utilisationPercent',
    'gpus.*.temperatureC',
    'gpus.*.powerDrawW',
    'gpus.*.performanceState',
    'gpus.*.throttleReasons',
    'gpus.*.processes.*.usedMemoryMiB',
    'gpus.*.mig.devices.*.memoryUsedMiB',
    'gpus.*.memoryFreeMiB',
    'gpus.*.bar1.usedMiB',
    'gpus.*.utilisation',
    'gpus.*.fanPercent',
    'gpus.*.temperatures.memoryC',
    'gpus.*.temperatures.marginC',
    'gpus.*.power.averageW',
    'gpus.*.power.instantW',
    'gpus.*.power.memoryW',
    'gpus.*.power.moduleW',
    'gpus.*.clocks',
    'gpus.*.throttledFor',
    // Falls while a GPU idles.
    'gpus.*.pcie.generation',
    'gpus.*.pcie.sentKBps',
    'gpus.*.pcie.receivedKBps',
    // On a bad link, and of a bad row, these count all day; uncorrected errors are kept.
    'gpus.*.pcie.replays',
    'gpus.*.pcie.replayRollovers',
    'gpus.*.ecc.volatile.corrected',
    'gpus.*.ecc.aggregate.corrected',
  ],
  gpu_holders: ['holders.*.useCount'],
  docker: ['live.containersRunning', 'unit.mainPid'],
  // Of what goes on happening the first line leaves a full ring buffer as well: another one of the kind is first then.
  kernel_log: ['count', 'firstSeconds', 'lastSeconds', 'line', 'pid'].map((name) => `events.*.${name}`),
  // A container that is started again and again fails in the same words.
  workloads: ['failures.*.count', 'failures.*.lastAtMs', 'docker.*.startedAtMs'],
  // Of the whole cluster: other nodes come and go.
  kube: [
    // Jobs come and go.
    'pods',
    'devicePlugin.daemonSets.*.ready',
    'devicePlugin.daemonSets.*.desired',
    'devicePlugin.logs.*.lastLines',
    // Of a plugin that starts again and again.
    'devicePlugin.pods.*.restarts',
    'events.*.count',
    'events.*.lastAtMs',
  ],
  // XFS and ZFS make inodes as there is room, ZFS also sizes.
  disk: ['sizeBytes', 'availableBytes', 'inodes', 'inodesAvailable'].map((name) => `mounts.*.${name}`),
  time_sync: ['offsetMs'],
  reachability: ['targets.*.dateMs', 'targets.*.offsetMs'],
};

const partsOfPaths = new Map<string, readonly (readonly string[])[]>(
  Object.entries(volatilePaths).map(([key, paths]) => [key, paths.map((path) => path.split('.'))]),
);

/** Does this path inside the value of fact `key` lead to, or into, a value that never rests? Copies nothing. */
export function isVolatile(key: string, path: readonly (string | number)[]): boolean {
  return (partsOfPaths.get(key) ?? []).some(
    (parts) => parts.length <= path.length && parts.every((part, at) => part === '*' || part === String(path[at])),
  );
}

/** A copy of `value` without what the paths name. */
export function withoutPaths(value: unknown, paths: readonly string[]): unknown {
  return paths.reduce((kept, path) => without(kept, path.split('.')), value);
}

function without(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const index = key === '*' ? null : Number(key);
    return value.map((item: unknown, at) => (index === null || index === at ? without(item, rest) : item));
  }
  if (!Object.hasOwn(value, key)) return value;
  const { [key]: found, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [key]: without(found, rest) };
}
