import { z } from 'zod';
import type { BootGpu } from '../../probes/mig-boot/fact.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { chooseGpus, GpuChoice, nameOfGpu } from '../gpu-choice.ts';
import { clearGpus, HolderPolicy } from '../gpu-holders.ts';
import {
  bootSteps,
  hasMode,
  instancesOf,
  isManaged,
  isResetByMode,
  type Mode,
  migProblem,
  modeLastsBoots,
  modeSteps,
  refreshSteps,
} from '../mig-steps.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { Plan, PlanReason, Step } from '../step.ts';

export const SetMigModeParams = z.strictObject({
  enabled: z.boolean(),
  gpus: GpuChoice.default('all'),
  /** Switching off takes the instances away: only with this. */
  destroyInstances: z.boolean().default(false),
  holders: HolderPolicy.prefault({}),
});
export type SetMigModeParams = z.infer<typeof SetMigModeParams>;

type Facts = Observed<'gpus' | 'jetson' | 'gpu_holders' | 'mig_boot'>;
type Gpu = Facts['gpus']['gpus'][number];

export function planMigMode(facts: Facts, params: SetMigModeParams, also: Also): Plan {
  const chosen = chooseGpus(facts.gpus.gpus, params.gpus);
  if (!chosen.ok) return { outcome: 'blocked', because: [chosen.because] };
  const wanted = params.enabled ? 'enabled' : 'disabled';
  const lost = chosen.gpus.filter((gpu) => gpu.lost).flatMap((gpu) => migProblem(gpu, facts.jetson, wanted) ?? []);
  if (lost.length > 0) return { outcome: 'blocked', because: lost };
  const differing = chosen.gpus.filter((gpu) => !hasMode(gpu, wanted));
  const incapable = differing.flatMap((gpu) => migProblem(gpu, facts.jetson, wanted) ?? []);
  if (incapable.length > 0) return { outcome: 'blocked', because: incapable };
  const boot = bootSteps(facts.mig_boot, bootChanges(chosen.gpus, wanted, facts, also));
  if (!boot.ok) return { outcome: 'blocked', because: [boot.because] };
  if (differing.length === 0 && boot.steps.length === 0)
    return noop('already_set', `MIG is ${wanted} on all GPUs asked for`);

  const clearing = clearGpus(differing, facts.gpu_holders.holders, also.workloads, params.holders, {
    keepsPersistenced: !differing.some(isResetByMode),
  });
  const teardown = differing.map((gpu) => takeInstances(gpu, params, also));
  const problems = [...clearing.problems, ...teardown.flatMap((one) => (Array.isArray(one) ? [] : [one]))];
  if (problems.length > 0) return { outcome: 'blocked', because: problems };
  const change = differing.flatMap((gpu, at): Step[] => {
    const taken = teardown[at];
    return [...(Array.isArray(taken) ? taken : []), ...modeSteps(gpu, wanted)];
  });
  const steps =
    change.length === 0
      ? boot.steps
      : // What boots do changes when all else has: a power cut before leaves the old state.
        [...clearing.pause, ...change, ...refreshSteps(also.cdi), ...boot.steps, ...clearing.resume];
  if (steps.length === 0) return blocked('gpu_unidentified', 'no GPU that differs can be addressed');
  return {
    outcome: 'plan',
    because:
      differing.length > 0 ? differing.map(whyDiffers) : [reason('lost_at_boot', 'the mode would not last a boot')],
    steps,
    holders: clearing.holders,
  };
}

function whyDiffers(gpu: Gpu): PlanReason {
  const { current, pending } = gpu.mig;
  return reason('mig_differs', `${nameOfGpu(gpu)}: MIG is ${current}, pending ${pending ?? 'not told'}`);
}

/** A mode that the driver keeps needs no help; one that it forgets is set again at boot. */
function bootChanges(gpus: Gpu[], wanted: Mode, { mig_boot }: Facts, also: Also): Map<string, BootGpu | null> {
  const changes = new Map<string, BootGpu | null>();
  for (const gpu of gpus) {
    if (gpu.uuid === null) continue;
    const known = mig_boot.layout?.gpus.find(({ uuid }) => uuid === gpu.uuid);
    const enabled = wanted === 'enabled';
    // A mode that is off comes up off by itself, unless somebody else switches it on at boot.
    const isNeeded = !modeLastsBoots(gpu, also.units) && (enabled || isManaged(also.units));
    const instances = enabled && known?.enabled ? known.instances : null;
    const keepsLayout = enabled && instances !== null;
    changes.set(gpu.uuid, isNeeded || keepsLayout ? { uuid: gpu.uuid, enabled, instances } : null);
  }
  return changes;
}

/** Instances are taken away by a step of their own, so that the way back makes them again. */
function takeInstances(gpu: Gpu, { enabled, destroyInstances }: SetMigModeParams, also: Also): Step[] | PlanReason {
  const { uuid, mig } = gpu;
  if (enabled || uuid === null) return [];
  const from = instancesOf(gpu, also.mig_profiles ?? null);
  const count = Math.max(mig.devices.length, from?.length ?? 0);
  if (count === 0) return [];
  // What was laid out on them is not ours to lose unasked.
  if (!destroyInstances) return reason('has_instances', `${nameOfGpu(gpu)} has ${count} MIG devices`);
  if (from === null)
    return reason(
      'instances_unknown',
      `${nameOfGpu(gpu)}: its instances were not told, so they could not be made again`,
    );
  return [{ do: 'set_mig_instances', gpuUuid: uuid, from, to: [], mustFind: true }];
}

/** Pending is not done: the mode counts when it is current. */
export function verifyMigMode({ gpus }: Pick<Facts, 'gpus'>, params: SetMigModeParams): Verdict {
  const wanted = params.enabled ? 'enabled' : 'disabled';
  const chosen = chooseGpus(gpus.gpus, params.gpus);
  if (!chosen.ok) return { ok: false, because: [chosen.because], answered: false };
  const wrong = chosen.gpus.flatMap((gpu) => modeProblem(gpu, wanted) ?? []);
  if (wrong.length > 0) return { ok: false, because: wrong, answered: true };
  return { ok: true, because: [reason('live_as_asked', `MIG is ${wanted} on ${chosen.gpus.length} GPUs`)] };
}

export function modeProblem(gpu: Gpu, wanted: Mode): PlanReason | null {
  if (gpu.lost) return reason('gpu_lost', `${nameOfGpu(gpu)} has fallen off the bus`);
  const { current, pending } = gpu.mig;
  if (hasMode(gpu, wanted)) return null;
  if (pending === wanted) return reason('pending_reset', `${nameOfGpu(gpu)}: ${wanted} waits for a GPU reset`);
  return reason('mig_differs', `${nameOfGpu(gpu)}: MIG is ${current ?? 'not told'}, pending ${pending ?? 'not told'}`);
}
