import type { StepOf } from '@gpufleet/shared/jobs';
import type { Gpu } from '@gpufleet/shared/probes';
import { done, type Executor, failed, firstLine, type StepContext, type StepOutcome } from './executor.ts';

/** nvidia-smi resets the GPU on the way, and hangs on a sick one. */
const timeoutMs = 60_000;

type SetMigMode = StepOf<'set_mig_mode'>;

export const setMigMode: Executor<SetMigMode> = {
  idempotent: true,
  async before(context, step) {
    const gpu = await readGpu(context, step);
    return gpu ? { current: gpu.mig.current, pending: gpu.mig.pending } : null;
  },
  async apply(context, step) {
    const before = await readGpu(context, step);
    if (!before) return failed('gpu_not_found', `GPU ${step.gpuUuid} does not answer`);
    // nvidia-smi is asked by bus id: another card in the slot would be switched instead.
    if (before.pciBusId !== step.pciBusId)
      return failed('gpu_moved', `GPU ${step.gpuUuid} is at ${before.pciBusId}, not at ${step.pciBusId}`);
    if (isThere(before, step)) return done;
    const wanted = step.to === 'enabled' ? '1' : '0';
    const ran = await context.host.run(['nvidia-smi', '-i', step.pciBusId, '-mig', wanted], { timeoutMs });
    if (!ran.ok) return failed(`nvidia_smi_${ran.because}`, ran.detail);
    if (ran.value.timedOut) return failed('timed_out', `nvidia-smi did not end in ${timeoutMs / 1_000} s`);
    return judge(await readGpu(context, step), step, ran.value.stdout || ran.value.stderr);
  },
  async probe(context, step) {
    const gpu = await readGpu(context, step);
    if (!gpu) return 'unclear';
    return isThere(gpu, step) ? 'present' : 'absent';
  },
};

/** It ends with 0 whether the mode is set, pending or refused: only what is there afterwards tells. */
function judge(gpu: Gpu | null, step: SetMigMode, said: string): StepOutcome {
  if (!gpu) return failed('gpu_not_found', `GPU ${step.gpuUuid} does not answer since`);
  if (isThere(gpu, step)) return done;
  if (/in use by another client/i.test(said)) return failed('in_use', `GPU ${step.gpuUuid}: ${firstLine(said)}`);
  if (gpu.mig.pending === step.to) return failed('pending_reset', `GPU ${step.gpuUuid}: ${firstLine(said)}`);
  return failed('mig_not_set', `GPU ${step.gpuUuid}: ${firstLine(said)}`);
}

function isThere(gpu: Gpu, step: SetMigMode): boolean {
  return gpu.mig.current === step.to && gpu.mig.pending === step.to;
}

async function readGpu(context: StepContext, step: SetMigMode): Promise<Gpu | null> {
  const facts = await context.collectFacts(['gpus']);
  return facts.gpus?.value?.gpus.find((gpu) => gpu.uuid === step.gpuUuid) ?? null;
}
