import type { StepOf } from '@gpufleet/shared/jobs';
import type { Gpu } from '@gpufleet/shared/probes';
import { done, type Executor, failed, firstLine, refused, type StepContext } from './executor.ts';
import { askNvidiaSmi, reasonOf } from './nvidia-smi.ts';

const timeoutMs = 180_000;

type ResetGpu = StepOf<'reset_gpu'>;

export const resetGpu: Executor<ResetGpu> = {
  // A reset of an idle GPU leaves what another one left.
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const before = await readThem(context, step);
    if (!before.ok) return refused('gpu_not_found', `GPU ${before.missing} does not answer`);
    if (step.when === 'mig_pending' && !before.gpus.some(isPending)) return done;
    const said = await askNvidiaSmi(context, ['--gpu-reset', '-i', step.gpuUuids.join(',')], timeoutMs);
    if (!said.ok) return said;
    const after = await readThem(context, step);
    if (!after.ok) return failed('gpu_not_found', `GPU ${after.missing} does not answer since the reset`);
    const lost = after.gpus.find((gpu) => gpu.lost);
    if (lost) return failed('gpu_lost', `GPU ${lost.uuid} has not come back from the reset`);
    if (!wasReset(said.text, step))
      return failed(reasonOf(said.text, 'not_reset'), `GPU ${step.gpuUuids.join(', ')}: ${sayWhy(said.text)}`);
    const pending = after.gpus.find(isPending);
    if (step.when === 'mig_pending' && pending)
      return failed('pending_reset', `GPU ${pending.uuid}: MIG is still pending after the reset`);
    return done;
  },
  async probe(context, step) {
    if (step.when === 'always') return 'absent';
    const now = await readThem(context, step);
    if (!now.ok) return 'unclear';
    return now.gpus.some(isPending) ? 'absent' : 'present';
  },
};

/** One line for each GPU; a mode that is no longer pending tells of a reset as well. */
function wasReset(text: string, step: ResetGpu): boolean {
  const named = text.match(/^GPU \S+ was successfully reset/gm)?.length ?? 0;
  return named >= step.gpuUuids.length;
}

function sayWhy(text: string): string {
  return firstLine(text.split('\n').find((line) => /use|unable|not|fail/i.test(line)) ?? text);
}

function isPending({ mig }: Gpu): boolean {
  return mig.pending !== null && mig.pending !== mig.current;
}

async function readThem(
  context: StepContext,
  step: ResetGpu,
): Promise<{ ok: true; gpus: Gpu[] } | { ok: false; missing: string }> {
  const all = (await context.collectFacts(['gpus'])).gpus?.value?.gpus ?? [];
  const gpus: Gpu[] = [];
  for (const wanted of step.gpuUuids) {
    const gpu = all.find(({ uuid }) => uuid === wanted);
    if (!gpu) return { ok: false, missing: wanted };
    gpus.push(gpu);
  }
  return { ok: true, gpus };
}
