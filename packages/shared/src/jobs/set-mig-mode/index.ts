import { defineJob } from '../define-job.ts';
import { planMigMode, SetMigModeParams, verifyMigMode } from './plan.ts';

export const setMigMode = defineJob({
  kind: 'set_mig_mode',
  title: 'Switch MIG on or off',
  params: SetMigModeParams,
  needs: () => ['gpus', 'jetson', 'gpu_holders', 'mig_boot'],
  uses: () => ['workloads', 'mig_profiles', 'cdi', 'units'],
  disruption: 'resets_gpu',
  worstCaseMs: 30 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 30_000,
  lastsBoots: true,
  plan: planMigMode,
  verify: verifyMigMode,
});
