import { defineJob } from '../define-job.ts';
import { GenerateCdiParams } from './params.ts';
import { planGenerateCdi, verifyGenerateCdi } from './plan.ts';

export const generateCdi = defineJob({
  kind: 'generate_cdi',
  title: 'Write the CDI specification of this host’s GPUs',
  params: GenerateCdiParams,
  needs: () => ['cdi', 'toolkit', 'driver', 'jetson'],
  // nvidia-smi tells nothing while the driver does not answer, which is a reason of its own.
  uses: () => ['gpus', 'docker'],
  disruption: 'none',
  worstCaseMs: 10 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 30_000,
  lastsBoots: true,
  plan: planGenerateCdi,
  verify: verifyGenerateCdi,
});
