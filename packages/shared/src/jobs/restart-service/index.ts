import { defineJob } from '../define-job.ts';
import { RestartServiceParams } from './params.ts';
import { needsOf, planRestart, verifyRestart } from './plan.ts';
import type { NeededProbe } from './services.ts';

export const restartService = defineJob({
  kind: 'restart_service',
  title: 'Restart, start or enable a container engine, one of NVIDIA’s services or time synchronisation',
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
