import { defineJob } from '../define-job.ts';
import { RepairPackagesParams } from './params.ts';
import { planRepair, repairUses, verifyRepair } from './plan.ts';

export const repairPackages = defineJob({
  kind: 'repair_packages',
  title: 'Finish, mend or install packages, their repositories and the module of the driver',
  params: RepairPackagesParams,
  needs: () => ['packages', 'jetson'] as const,
  uses: repairUses,
  disruption: 'restarts_containers',
  worstCaseMs: 90 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 120_000,
  lastsBoots: false,
  plan: planRepair,
  verify: verifyRepair,
});
