import { defineJob } from '../define-job.ts';
import { type NeededProbe, needsOf, planRestart, RestartServiceParams, verifyRestart } from './plan.ts';

export const restartService = defineJob({
  kind: 'restart_service',
  title: 'Restart, start or enable a container engine or the fabric manager',
  params: RestartServiceParams,
  needs: (params): readonly NeededProbe[] => needsOf(params),
  disruption: 'restarts_containers',
  worstCaseMs: 15 * 60_000,
  onCancel: 'finish',
  verifyWithinMs: 90_000,
  lastsBoots: false,
  plan: planRestart,
  verify: verifyRestart,
});
