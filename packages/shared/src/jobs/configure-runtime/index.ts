import { defineJob, type Observed, type Verdict } from '../define-job.ts';
import { blocked } from '../plan-parts.ts';
import type { Plan, PlanReason } from '../step.ts';
import { ConfigureRuntimeParams } from './params.ts';
import { planContainerd, whatLiveLacks as whatContainerdLacks } from './plan-containerd.ts';
import { planDocker, whatLiveLacks as whatDockerLacks } from './plan-docker.ts';
import { planK3s, whatLiveLacks as whatK3sLacks } from './plan-k3s.ts';

type Needs = 'docker' | 'containerd' | 'k3s' | 'toolkit';

export const configureRuntime = defineJob({
  kind: 'configure_runtime',
  title: 'Make the NVIDIA runtime known to a container engine',
  params: ConfigureRuntimeParams,
  needs({ runtime }): readonly Needs[] {
    if (runtime === 'docker' || runtime === 'containerd' || runtime === 'k3s') return [runtime, 'toolkit'];
    return [];
  },
  disruption: 'restarts_containers',
  worstCaseMs: 15 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 90_000,
  lastsBoots: true,
  plan(facts: Observed<Needs>, params): Plan {
    if (params.runtime === 'docker') return planDocker(facts, params);
    if (params.runtime === 'containerd') return planContainerd(facts, params);
    if (params.runtime === 'k3s') return planK3s(facts, params);
    return blocked('not_available_yet', `${params.runtime} is not configured by this version`);
  },
  verify(facts: Observed<Needs>, params): Verdict {
    const lacks = lacksOf(facts, params);
    if (lacks.length > 0) return { ok: false, because: lacks, answered: hasAnswered(facts, params) };
    const detail = `the live ${params.runtime} has ${params.runtimeName} as asked`;
    return { ok: true, because: [{ because: 'live_as_asked', detail }] };
  },
});

function lacksOf(facts: Observed<Needs>, params: ConfigureRuntimeParams): PlanReason[] {
  if (params.runtime === 'docker') return whatDockerLacks(facts.docker, params);
  if (params.runtime === 'k3s') return whatK3sLacks(facts.k3s, params);
  return whatContainerdLacks(facts.containerd, params, params.runtimePath ?? null);
}

/** A daemon that is up since the restart has read its configuration: asking it again brings the same. */
function hasAnswered(facts: Observed<Needs>, params: ConfigureRuntimeParams): boolean {
  if (params.runtime === 'docker') return facts.docker.live !== null;
  if (params.runtime === 'k3s') return facts.k3s.live !== null;
  return facts.containerd.live?.criReady === true;
}
