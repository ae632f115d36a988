import { defineJob } from '../define-job.ts';
import { HoldPackagesParams, planHold, verifyHold } from './plan.ts';

export const holdPackages = defineJob({
  kind: 'hold_packages',
  title: 'Keep packages at the version that they have, or let them go',
  params: HoldPackagesParams,
  needs: () => ['packages'] as const,
  disruption: 'none',
  worstCaseMs: 5 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 30_000,
  lastsBoots: false,
  plan: planHold,
  verify: verifyHold,
});
