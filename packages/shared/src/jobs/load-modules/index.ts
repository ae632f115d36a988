import { defineJob } from '../define-job.ts';
import { LoadModulesParams } from './params.ts';
import { loadModulesUses, planLoadModules, verifyLoadModules } from './plan.ts';

export const loadModules = defineJob({
  kind: 'load_modules',
  title: 'Load the driver’s kernel modules, with device nodes and links, now and at boot',
  params: LoadModulesParams,
  needs: () => ['driver', 'pci', 'jetson', 'device_nodes'],
  uses: () => loadModulesUses,
  disruption: 'none',
  worstCaseMs: 15 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 60_000,
  lastsBoots: true,
  plan: planLoadModules,
  verify: verifyLoadModules,
});
