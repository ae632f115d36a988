import { defineJob } from '../define-job.ts';
import { SetMigLayoutParams } from './params.ts';
import { planLayout, verifyLayout } from './plan.ts';

export const setMigLayout = defineJob({
  kind: 'set_mig_layout',
  title: 'Cut GPUs into MIG instances',
  params: SetMigLayoutParams,
  needs: () => ['gpus', 'jetson', 'gpu_holders', 'mig_profiles', 'mig_boot'],
  uses: () => ['workloads', 'cdi', 'units'],
  disruption: 'resets_gpu',
  worstCaseMs: 40 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 30_000,
  lastsBoots: true,
  plan: planLayout,
  verify: verifyLayout,
});
