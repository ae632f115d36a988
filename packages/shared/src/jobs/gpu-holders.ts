import { z } from 'zod';
import type { FactValue } from '../probes/facts.ts';
import type { Also } from './define-job.ts';
import { nameOfGpu } from './gpu-choice.ts';
import { reason } from './plan-parts.ts';
import type { Holder, PlanReason, Step } from './step.ts';

type Gpu = FactValue<'gpus'>['gpus'][number];
type Held = FactValue<'gpu_holders'>['holders'][number];

/** What is done about those who keep a GPU in use. What is not NVIDIA's own is left alone unless it is said otherwise. */
export const HolderPolicy = z.strictObject({
  /** DCGM, its exporter and NVSM, as units of this host. */
  services: z.enum(['stop', 'refuse']).default('stop'),
  persistenced: z.enum(['stop', 'refuse']).default('stop'),
  /** Containers of docker. */
  containers: z.enum(['stop', 'refuse']).default('refuse'),
  processes: z.enum(['wait', 'refuse']).default('refuse'),
  /** How long those that are waited for may take. */
  waitMs: z.int().min(1_000).max(600_000).default(300_000),
});
export type HolderPolicy = z.infer<typeof HolderPolicy>;

export interface GpuUser {
  type: 'persistenced' | 'service' | 'container' | 'pod' | 'process' | 'kernel_module';
  name: string;
  pid: number | null;
  /** Of a service its unit, of a container its id, of a pod its uid. */
  id: string | null;
}

const persistenced = 'nvidia-persistenced.service';
/** Keeps its hands on the switches, and retrains the links of a GPU that is reset: it has to run meanwhile. */
const stays: readonly string[] = ['nvidia-fabricmanager.service'];
const ownService = /^(?:nvidia-dcgm|dcgm|dcgm-exporter|nvidia-dcgm-exporter|nv-hostengine|nvsm|nvsm-core)\.service$/;
/** Loaded with the driver; their users open the GPU's own nodes as well. */
const ownModules: readonly string[] = ['nvidia_uvm', 'nvidia_modeset'];

const stopTimeoutMs = 30_000;
/** What was told to end may take a moment to let go. */
const letGoMs = 30_000;

/** Who has this GPU open. `except`: units that may stay. */
export function usersOf(gpu: Gpu, holders: readonly Held[], except: readonly string[] = []): GpuUser[] {
  // Without the minor number any GPU's node may be this one's.
  const node = gpu.minorNumber === null ? null : `/dev/nvidia${gpu.minorNumber}`;
  const opens = (path: string) => (node === null ? /^\/dev\/nvidia\d+$/.test(path) : path === node);
  const left = [...stays, ...except];
  const seen = new Set(holders.map(({ pid }) => pid));
  const open = holders.filter(({ kind, paths }) => kind === 'process' && paths.some(opens));
  return [
    ...open.filter(({ unit }) => unit === null || !left.includes(unit)).map(toUser),
    ...gpu.processes
      .filter(({ pid }) => !seen.has(pid))
      .map(({ pid, name }): GpuUser => ({ type: 'process', name: name ?? 'unnamed', pid, id: null })),
    ...holders
      .filter(({ kind, name, useCount }) => kind === 'kernel_module' && !ownModules.includes(name) && useCount !== 0)
      .map(({ name }): GpuUser => ({ type: 'kernel_module', name, pid: null, id: null })),
  ];
}

function toUser({ name, pid, unit, containerId, pod }: Held): GpuUser {
  if (pod !== null) return { type: 'pod', name: pod, pid, id: pod };
  if (containerId !== null) return { type: 'container', name: containerId.slice(0, 12), pid, id: containerId };
  if (unit === persistenced) return { type: 'persistenced', name: unit, pid, id: unit };
  if (unit !== null && ownService.test(unit)) return { type: 'service', name: unit, pid, id: unit };
  return { type: 'process', name: unit === null ? name : `${name} of ${unit}`, pid, id: null };
}

export interface Clearing {
  problems: PlanReason[];
  /** Who is hit by the plan, or stands in its way. */
  holders: Holder[];
  /** Before the GPUs are touched. */
  pause: Step[];
  /** When they are done. */
  resume: Step[];
}

/**
 * How the GPUs become idle. `keeps`: units that need not let go of them for this change; `isHit`: whether a user is in
 * the way at all.
 */
export function clearGpus(
  gpus: readonly Gpu[],
  holders: readonly Held[],
  workloads: Also['workloads'],
  policy: HolderPolicy,
  options: { keepsPersistenced: boolean; isHit?: (gpu: Gpu, user: GpuUser) => boolean },
): Clearing {
  const except = options.keepsPersistenced ? [persistenced] : [];
  const found = gpus.map((gpu) => ({
    gpu,
    users: usersOf(gpu, holders, except)
      .filter((user) => options.isHit?.(gpu, user) ?? true)
      .map((user) => named(user, workloads)),
  }));
  const problems = found.flatMap(({ gpu, users }) =>
    users.flatMap((user) => {
      const because = refusalOf(user, policy, workloads);
      return because === null ? [] : [reason(because, `${nameOfGpu(gpu)}: ${wordsOf(user)}`)];
    }),
  );
  const all = found.flatMap(({ users }) => users);
  const ids = (...types: GpuUser['type'][]) => [
    ...new Set(all.flatMap(({ type, id }) => (types.includes(type) && id !== null ? [id] : []))),
  ];
  const units = ids('service', 'persistenced').sort();
  const containers = ids('container').sort();
  const waits = found.filter(({ users }) => users.length > 0);
  return {
    problems,
    holders: found.flatMap(({ gpu, users }) => users.map((user) => toHolder(gpu, user))),
    pause: [
      ...containers.map((id): Step => ({ do: 'stop_container', id, timeoutMs: stopTimeoutMs })),
      ...units.map((unit): Step => ({ do: 'stop_unit', unit, timeoutMs: stopTimeoutMs })),
      ...waits.flatMap(({ gpu, users }): Step[] => {
        const timeoutMs = users.some(({ type }) => type === 'process') ? policy.waitMs : letGoMs;
        return gpu.uuid === null ? [] : [{ do: 'wait_until_idle', gpuUuid: gpu.uuid, except, timeoutMs }];
      }),
    ],
    resume: [
      ...units.toReversed().map((unit): Step => ({ do: 'start_unit', unit, timeoutMs: stopTimeoutMs })),
      ...containers.toReversed().map((id): Step => ({ do: 'start_container', id, timeoutMs: stopTimeoutMs })),
    ],
  };
}

type HolderRefusal = 'in_use' | 'in_use_by_service' | 'in_use_by_container' | 'in_use_by_pod' | 'in_use_by_module';

function refusalOf({ type, id }: GpuUser, policy: HolderPolicy, workloads: Also['workloads']): HolderRefusal | null {
  switch (type) {
    case 'persistenced':
      return policy.persistenced === 'stop' ? null : 'in_use_by_service';
    case 'service':
      return policy.services === 'stop' ? null : 'in_use_by_service';
    case 'container':
      // Only docker is asked to stop one: what another engine runs is not ours to start again.
      return policy.containers === 'stop' && workloads?.docker?.some((one) => one.id === id)
        ? null
        : 'in_use_by_container';
    case 'pod':
      return 'in_use_by_pod';
    case 'process':
      return policy.processes === 'wait' ? null : 'in_use';
    case 'kernel_module':
      return 'in_use_by_module';
  }
}

function named(user: GpuUser, workloads: Also['workloads']): GpuUser {
  const container = user.type === 'container' && workloads?.docker?.find(({ id }) => id === user.id);
  if (container) return { ...user, name: container.name ?? user.name };
  const pod = user.type === 'pod' && workloads?.pods?.find(({ uid }) => uid === user.id);
  return pod && pod.name !== null ? { ...user, name: `${pod.namespace ?? 'default'}/${pod.name}` } : user;
}

function wordsOf({ type, name, pid }: GpuUser): string {
  const who = type === 'process' ? name : `${type.replace('_', ' ')} ${name}`;
  return pid === null ? who : `${who} (pid ${pid})`;
}

function toHolder(gpu: Gpu, { type, name, pid }: GpuUser): Holder {
  const kind = type === 'persistenced' || type === 'service' ? 'unit' : type;
  return { type: kind, name, pid, gpuUuid: gpu.uuid };
}
