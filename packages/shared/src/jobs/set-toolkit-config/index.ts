import { defineJob } from '../define-job.ts';
import { SetToolkitConfigParams } from './params.ts';
import { type NeededProbe, needsOf, planToolkitConfig, verifyToolkitConfig } from './plan.ts';

export const setToolkitConfig = defineJob({
  kind: 'set_toolkit_config',
  title: 'Change settings of the NVIDIA container runtime',
  params: SetToolkitConfigParams,
  needs: (params): readonly NeededProbe[] => needsOf(params),
  disruption: 'none',
  worstCaseMs: 5 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 15_000,
  lastsBoots: false,
  plan: planToolkitConfig,
  verify: verifyToolkitConfig,
});
