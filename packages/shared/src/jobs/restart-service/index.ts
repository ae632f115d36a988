import { defineJob } from '../define-job.ts';
import { withDrain } from './drain.ts';
import { RestartServiceParams } from './params.ts';
import { needsOf, planRestart, verifyRestart } from './plan.ts';
import type { NeededProbe } from './services.ts';

export const restartService = defineJob({
  kind: 'restart_service',
  title: 'Restart, start or enable a container engine, one of NVIDIA’s services or time synchronisation',
  params: RestartServiceParams,
  needs: (params): readonly NeededProbe[] => needsOf(params),
  uses: ({ drain }) => (drain ? (['kube'] as const) : []),
  disruption: 'restarts_containers',
  worstCaseMs: 30 * 60_000,
  onCancel: 'finish',
  verifyWithinMs: 90_000,
  lastsBoots: false,
  plan: (facts, params, { kube = null }) =>
    params.drain ? withDrain(planRestart(facts, params), params.unit, kube) : planRestart(facts, params),
  verify: verifyRestart,
});
