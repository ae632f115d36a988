import { defineJob } from '../define-job.ts';
import { planReset, ResetGpuParams, verifyReset } from './plan.ts';

export const resetGpu = defineJob({
  kind: 'reset_gpu',
  title: 'Reset a GPU',
  params: ResetGpuParams,
  needs: () => ['gpus', 'jetson', 'gpu_holders'],
  uses: () => ['workloads', 'mig_profiles', 'cdi', 'fabric', 'kernel_log'],
  disruption: 'resets_gpu',
  worstCaseMs: 25 * 60_000,
  onCancel: 'finish',
  verifyWithinMs: 60_000,
  lastsBoots: false,
  plan: planReset,
  verify: verifyReset,
});
