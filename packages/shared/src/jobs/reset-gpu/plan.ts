import { z } from 'zod';
import { busAddress } from '../../diagnosis/host-questions.ts';
import { needsReset, recoveryAsked, standingXids } from '../../diagnosis/kernel-events.ts';
import type { FactValue } from '../../probes/facts.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { chooseGpus, GpuName, gpuProblem, nameOfGpu } from '../gpu-choice.ts';
import { clearGpus, HolderPolicy } from '../gpu-holders.ts';
import { instancesOf, refreshSteps } from '../mig-steps.ts';
import { noop, reason } from '../plan-parts.ts';
import type { Plan, PlanReason, Step } from '../step.ts';

export const ResetGpuParams = z.strictObject({
  gpu: GpuName,
  /** GPUs that are linked to it directly: they are reset together, and so must be named. */
  peers: z.array(GpuName).max(64).default([]),
  /** Also where nothing on the host asks for it. */
  force: z.boolean().default(false),
  holders: HolderPolicy.prefault({}),
});
export type ResetGpuParams = z.infer<typeof ResetGpuParams>;

type Facts = Observed<'gpus' | 'jetson' | 'gpu_holders'>;
type Gpu = Facts['gpus']['gpus'][number];

export function planReset(facts: Facts, params: ResetGpuParams, also: Also): Plan {
  const chosen = chooseGpus(facts.gpus.gpus, [params.gpu, ...params.peers]);
  if (!chosen.ok) return { outcome: 'blocked', because: [chosen.because] };
  const because = whyReset(chosen.gpus, params.force, also);
  const problems = chosen.gpus.flatMap((gpu) => whyNot(gpu, facts, also) ?? []);
  const lost = problems.filter((problem) => problem.because === 'gpu_lost');
  if (lost.length > 0) return { outcome: 'blocked', because: lost };
  if (because.length === 0)
    return noop(
      'nothing_asks_for_reset',
      `nothing asks for a reset of ${names(chosen.gpus)} (force resets all the same)`,
    );
  const unnamed = peersOf(chosen.gpus, facts.gpus.gpus, also.fabric);
  if (unnamed.length > 0)
    problems.push(reason('peers_needed', `${names(unnamed)} must be reset together with it: name them in peers`));
  const clearing = clearGpus(chosen.gpus, facts.gpu_holders.holders, also.workloads, params.holders, {
    keepsPersistenced: false,
  });
  const remade = chosen.gpus.map((gpu) => remakeInstances(gpu, also));
  problems.push(...clearing.problems, ...remade.flatMap((one) => (Array.isArray(one) ? [] : [one])));
  if (problems.length > 0) return { outcome: 'blocked', because: problems };
  const gpuUuids = chosen.gpus.flatMap(({ uuid }) => uuid ?? []);
  const again = remade.flatMap((one): Step[] => (Array.isArray(one) ? one : []));
  const changesDevices = again.length > 0 || chosen.gpus.some(isPending);
  return {
    outcome: 'plan',
    because,
    steps: [
      ...clearing.pause,
      { do: 'reset_gpu', gpuUuids, when: 'always' },
      ...again,
      ...(changesDevices ? refreshSteps(also.cdi) : []),
      ...clearing.resume,
    ],
    holders: clearing.holders,
  };
}

/** Everything that only a reset ends, as the GPU, the driver and the kernel say. */
function whyReset(gpus: readonly Gpu[], force: boolean, also: Also): PlanReason[] {
  const found = gpus.flatMap((gpu) => [...ofGpu(gpu), ...ofKernel(gpu, also.kernel_log)]);
  return found.length === 0 && force ? [reason('forced', `the job asks for a reset of ${names(gpus)}`)] : found;
}

function ofGpu(gpu: Gpu): PlanReason[] {
  const name = nameOfGpu(gpu);
  const { recoveryAction, reset, eccUncorrectedVolatile, mig } = gpu;
  const reasons: PlanReason[] = [];
  if (isPending(gpu)) reasons.push(reason('mig_pending', `${name} waits for a reset to have MIG ${mig.pending}`));
  if (reset.required || reset.drainAndResetRecommended || /reset/i.test(recoveryAction ?? ''))
    reasons.push(reason('recovery_asked', `${name}: the driver asks for ${recoveryAction ?? 'a reset'}`));
  if (gpu.remappedRowsPending || gpu.retiredPages.pending)
    reasons.push(reason('memory_repair_pending', `${name} leaves out a faulty place of its memory after a reset`));
  if ((eccUncorrectedVolatile ?? 0) > 0)
    reasons.push(reason('memory_errors', `${name}: ${eccUncorrectedVolatile} uncorrected errors since the last reset`));
  return reasons;
}

function ofKernel(gpu: Gpu, log: FactValue<'kernel_log'> | null | undefined): PlanReason[] {
  const address = busAddress(gpu.pciBusId);
  if (!log || address === null) return [];
  const xids = standingXids(log, address);
  const asked = recoveryAsked(xids);
  const meant = xids.filter((event) => needsReset(event) || (asked !== null && event.detail === asked));
  return meant.map(({ line }) => reason('kernel_asks', line));
}

function isPending({ mig }: Gpu): boolean {
  return mig.current !== null && mig.pending !== null && mig.current !== mig.pending;
}

function whyNot(gpu: Gpu, { jetson }: Facts, { kernel_log: log }: Also): PlanReason | null {
  if (jetson.isTegra) return reason('integrated_gpu', `${nameOfGpu(gpu)} is part of the board: reboot it instead`);
  const problem = gpuProblem(gpu);
  if (problem) return problem;
  const asked = recoveryAsked(log ? standingXids(log, busAddress(gpu.pciBusId)) : []) ?? gpu.recoveryAction;
  return /reboot/i.test(asked ?? '')
    ? reason('reboot_needed', `${nameOfGpu(gpu)}: the driver asks for a reboot, a reset does not do`)
    : null;
}

/** GPUs with links of their own to others go together; those behind switches are trained anew by the fabric manager. */
function peersOf(chosen: readonly Gpu[], all: readonly Gpu[], fabric: Also['fabric']): Gpu[] {
  if (!fabric?.nvlinks || fabric.nvswitches.length > 0 || fabric.nvlink5) return [];
  const linked = new Set(fabric.nvlinks.filter(({ active }) => active).map(({ gpu }) => gpu));
  if (!chosen.some(({ index }) => linked.has(index))) return [];
  return all.filter((gpu) => linked.has(gpu.index) && !chosen.includes(gpu));
}

/** No instance outlives a reset: those that are there are made again. */
function remakeInstances(gpu: Gpu, also: Also): Step[] | PlanReason {
  const { uuid, mig } = gpu;
  if (uuid === null || mig.current !== 'enabled' || mig.pending === 'disabled') return [];
  const instances = instancesOf(gpu, also.mig_profiles ?? null);
  if (instances === null)
    return reason(
      'instances_unknown',
      `${nameOfGpu(gpu)}: its instances were not told, so they could not be made again`,
    );
  if (instances.length === 0) return [];
  return [{ do: 'set_mig_instances', gpuUuid: uuid, from: instances, to: instances, mustFind: false }];
}

export function verifyReset({ gpus }: Facts, params: ResetGpuParams, before: Facts & Also, now: Also): Verdict {
  const chosen = chooseGpus(gpus.gpus, [params.gpu, ...params.peers]);
  if (!chosen.ok) return { ok: false, because: [chosen.because], answered: false };
  const lost = chosen.gpus.filter((gpu) => gpu.lost);
  if (lost.length > 0)
    return { ok: false, because: [reason('gpu_lost', `${names(lost)} is lost since the reset`)], answered: true };
  const left = chosen.gpus.flatMap(ofGpu);
  if (left.length > 0) return { ok: false, because: left, answered: true };
  // Not every driver says in the log that it has reset a GPU: only what came since counts.
  const old = new Set(before.kernel_log?.events.map(({ line, count }) => `${count} ${line}`));
  const since = (now.kernel_log?.events ?? []).filter(({ line, count }) => !old.has(`${count} ${line}`));
  const again = chosen.gpus.filter((gpu) =>
    since.some((event) => event.address === busAddress(gpu.pciBusId) && event.kind === 'xid' && needsReset(event)),
  );
  if (again.length > 0)
    return { ok: false, because: [reason('kernel_asks', `${names(again)} asks for a reset again`)], answered: true };
  return { ok: true, because: [reason('live_as_asked', `${names(chosen.gpus)} answers, and asks for no reset`)] };
}

function names(gpus: readonly Gpu[]): string {
  return gpus.map(nameOfGpu).join(', ');
}
