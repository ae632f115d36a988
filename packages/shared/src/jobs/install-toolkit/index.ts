import { defineJob } from '../define-job.ts';
import { InstallToolkitParams } from './params.ts';
import { installUses, planInstall, verifyInstall } from './plan.ts';

export const installToolkit = defineJob({
  kind: 'install_toolkit',
  title: "Install NVIDIA's container toolkit, all of its packages at one version",
  params: InstallToolkitParams,
  needs: () => ['packages', 'toolkit', 'jetson'] as const,
  uses: () => installUses,
  disruption: 'none',
  worstCaseMs: 60 * 60_000,
  // A transaction of packages is carried to its end either way: going back is one more.
  onCancel: 'roll_back',
  verifyWithinMs: 60_000,
  lastsBoots: false,
  plan: planInstall,
  verify: verifyInstall,
});
