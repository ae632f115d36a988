import { defineJob } from '../define-job.ts';
import { EnsureRuntimeClassParams, planRuntimeClass, verifyRuntimeClass } from './plan.ts';

export const ensureRuntimeClass = defineJob({
  kind: 'ensure_runtime_class',
  title: 'Make the RuntimeClass by which pods ask for NVIDIA’s runtime',
  params: EnsureRuntimeClassParams,
  needs: () => ['kube'] as const,
  disruption: 'none',
  worstCaseMs: 10 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 60_000,
  lastsBoots: false,
  plan: planRuntimeClass,
  verify: verifyRuntimeClass,
});
