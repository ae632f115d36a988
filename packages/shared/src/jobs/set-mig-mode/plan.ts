import { z } from 'zod';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { isOlderThan } from '../../probes/versions.ts';
import type { Observed, Verdict } from '../define-job.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { Holder, Plan, PlanReason, StepOf } from '../step.ts';

export const SetMigModeParams = z.strictObject({
  enabled: z.boolean(),
  gpus: z.union([z.literal('all'), z.array(z.string().min(1).max(128)).min(1).max(64)]).default('all'),
});
export type SetMigModeParams = z.infer<typeof SetMigModeParams>;

/** The first L4T on which Thor's GPU can be split. */
const thorMigSince = [39, 2];

type Facts = Observed<'gpus' | 'jetson'>;

export function planMigMode({ gpus, jetson }: Facts, params: SetMigModeParams): Plan {
  const chosen = choose(gpus.gpus, params.gpus);
  if (!chosen.ok) return blocked('gpu_not_found', `there is no GPU ${chosen.missing} on this host`);
  if (chosen.gpus.length === 0) return blocked('no_gpus', 'nvidia-smi lists no GPU');
  // What is told of a GPU that is gone is what it was: it counts for nothing.
  const lost = chosen.gpus.filter((gpu) => gpu.lost);
  if (lost.length > 0)
    return {
      outcome: 'blocked',
      because: lost.map((gpu) => reason('gpu_lost', `${nameOf(gpu)} has fallen off the bus`)),
    };
  const wanted = params.enabled ? 'enabled' : 'disabled';
  const differing = chosen.gpus.filter((gpu) => gpu.mig.current !== wanted || gpu.mig.pending !== wanted);
  const problems = differing.flatMap((gpu) => whyNot(gpu, jetson, params.enabled));
  if (problems.length > 0) return { outcome: 'blocked', because: problems };
  if (differing.length === 0) return noop('already_set', `MIG is ${wanted} on all GPUs asked for`);
  return {
    outcome: 'plan',
    because: differing.map((gpu) =>
      reason('mig_differs', `${nameOf(gpu)}: MIG is ${gpu.mig.current}, pending ${gpu.mig.pending ?? 'not told'}`),
    ),
    steps: differing.flatMap((gpu) => stepFor(gpu, wanted)),
    holders: [],
  };
}

/** Pending is not done: the mode counts when it is current. */
export function verifyMigMode({ gpus }: Facts, params: SetMigModeParams): Verdict {
  const wanted = params.enabled ? 'enabled' : 'disabled';
  const chosen = choose(gpus.gpus, params.gpus);
  if (!chosen.ok)
    return { ok: false, because: [reason('gpu_not_found', `GPU ${chosen.missing} is gone`)], answered: false };
  const wrong = chosen.gpus.flatMap((gpu): PlanReason[] => {
    if (gpu.lost) return [reason('gpu_lost', `${nameOf(gpu)} has fallen off the bus`)];
    const { current, pending } = gpu.mig;
    if (current === wanted && pending === wanted) return [];
    if (pending === wanted) return [reason('pending_reset', `${nameOf(gpu)}: ${wanted} waits for a GPU reset`)];
    return [reason('mig_differs', `${nameOf(gpu)}: MIG is ${current ?? 'not told'}, pending ${pending ?? 'not told'}`)];
  });
  if (wrong.length > 0) return { ok: false, because: wrong, answered: true };
  return { ok: true, because: [reason('live_as_asked', `MIG is ${wanted} on ${chosen.gpus.length} GPUs`)] };
}

function choose(
  all: Gpu[],
  asked: SetMigModeParams['gpus'],
): { ok: true; gpus: Gpu[] } | { ok: false; missing: string } {
  if (asked === 'all') return { ok: true, gpus: all };
  const gpus: Gpu[] = [];
  for (const uuid of new Set(asked)) {
    const gpu = all.find((candidate) => candidate.uuid === uuid);
    if (!gpu) return { ok: false, missing: uuid };
    gpus.push(gpu);
  }
  return { ok: true, gpus };
}

function whyNot(gpu: Gpu, { isTegra, l4t }: Facts['jetson'], enable: boolean): PlanReason[] {
  const name = nameOf(gpu);
  if (isTegra && gpu.name?.includes('(nvgpu)')) return [reason('integrated_gpu', `${name}: this GPU has no MIG`)];
  if (isTegra && enable && isOlderThan(l4t, thorMigSince))
    return [reason('not_mig_capable', `${name}: MIG on this board needs L4T 39.2 (JetPack 7.2), and it has ${l4t}`)];
  if (gpu.mig.current === null) return [reason('not_mig_capable', `${name} has no MIG, or does not tell`)];
  if (gpu.uuid === null || gpu.pciBusId === null)
    return [reason('gpu_unidentified', `${name} tells no UUID or no bus id: it cannot be addressed safely`)];
  const problems: PlanReason[] = holdersOf(gpu).map((holder) =>
    reason('in_use', `${name}: ${holder.name} (pid ${holder.pid})`),
  );
  // Switching off destroys the instances, and what was laid out on them is not ours to lose.
  if (!enable && gpu.mig.devices.length > 0)
    problems.push(reason('has_instances', `${name} has ${gpu.mig.devices.length} MIG devices`));
  return problems;
}

function holdersOf(gpu: Gpu): Holder[] {
  return gpu.processes.map(({ pid, name }) => ({ type: 'process', name: name ?? 'unnamed', pid, gpuUuid: gpu.uuid }));
}

function stepFor(gpu: Gpu, to: 'enabled' | 'disabled'): StepOf<'set_mig_mode'>[] {
  const { uuid, pciBusId, mig } = gpu;
  if (uuid === null || pciBusId === null || mig.current === null) return [];
  return [{ do: 'set_mig_mode', gpuUuid: uuid, pciBusId, from: mig.current, to }];
}

function nameOf(gpu: Gpu): string {
  return `GPU ${gpu.uuid ?? gpu.pciBusId ?? gpu.index}${gpu.name ? ` (${gpu.name})` : ''}`;
}
