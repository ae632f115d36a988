import type { StepOf } from '@gpufleet/shared/jobs';
import type { Gpu } from '@gpufleet/shared/probes';
import { done, type Executor, failed, firstLine, refused, type StepOutcome } from './executor.ts';
import { askNvidiaSmi, reasonOf } from './nvidia-smi.ts';
import { readGpu } from './read-gpu.ts';

/** nvidia-smi resets the GPU on the way. */
const timeoutMs = 60_000;

type SetMigMode = StepOf<'set_mig_mode'>;

export const setMigMode: Executor<SetMigMode> = {
  idempotent: true,
  async before(context, step) {
    const gpu = await readGpu(context, step.gpuUuid);
    return gpu ? { current: gpu.mig.current, pending: gpu.mig.pending } : null;
  },
  async apply(context, step) {
    const before = await readGpu(context, step.gpuUuid);
    if (!before) return refused('gpu_not_found', `GPU ${step.gpuUuid} does not answer`);
    if (isThere(before, step)) return done;
    const wanted = step.to === 'enabled' ? '1' : '0';
    const said = await askNvidiaSmi(context, ['-i', step.gpuUuid, '-mig', wanted], timeoutMs);
    if (!said.ok) return said;
    return judge(await readGpu(context, step.gpuUuid), step, said.text);
  },
  async probe(context, step) {
    const gpu = await readGpu(context, step.gpuUuid);
    if (!gpu) return 'unclear';
    return isThere(gpu, step) || (step.mayPend && gpu.mig.pending === step.to) ? 'present' : 'absent';
  },
};

/** It ends with 0 whether the mode is set, pending or refused: only what is there afterwards tells. */
function judge(gpu: Gpu | null, step: SetMigMode, said: string): StepOutcome {
  if (!gpu) return failed('gpu_not_found', `GPU ${step.gpuUuid} does not answer since`);
  if (isThere(gpu, step)) return done;
  const because = reasonOf(said, gpu.mig.pending === step.to ? 'pending_reset' : 'mig_not_set');
  if (because === 'pending_reset' && step.mayPend) return done;
  return failed(because, `GPU ${step.gpuUuid}: ${firstLine(said)}`);
}

function isThere(gpu: Gpu, step: SetMigMode): boolean {
  return gpu.mig.current === step.to && gpu.mig.pending === step.to;
}
