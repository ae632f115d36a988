import { defineJob, type Observed, type Verdict } from '../define-job.ts';
import type { Plan, PlanReason } from '../step.ts';
import { whatLiveLacks as whatContainerdLacks } from './containerd-live.ts';
import { ConfigureRuntimeParams } from './params.ts';
import { planContainerd } from './plan-containerd.ts';
import { planCrio, whatLiveLacks as whatCrioLacks } from './plan-crio.ts';
import { planDocker, whatLiveLacks as whatDockerLacks } from './plan-docker.ts';
import { planMicroK8s, whatLiveLacks as whatMicroK8sLacks } from './plan-microk8s.ts';
import { planRancher, whatLiveLacks as whatRancherLacks } from './plan-rancher.ts';

type Runtime = ConfigureRuntimeParams['runtime'];
type Needs = Runtime | 'toolkit' | 'kube';

export const configureRuntime = defineJob({
  kind: 'configure_runtime',
  title: 'Make the NVIDIA runtime known to a container engine',
  params: ConfigureRuntimeParams,
  needs({ runtime }): readonly Needs[] {
    // The kubelet says which cgroup driver a runtime of the host's containerd must use.
    return runtime === 'containerd' ? [runtime, 'toolkit', 'kube'] : [runtime, 'toolkit'];
  },
  disruption: 'restarts_containers',
  worstCaseMs: 15 * 60_000,
  onCancel: 'roll_back',
  verifyWithinMs: 90_000,
  lastsBoots: true,
  plan(facts: Observed<Needs>, params): Plan {
    return platforms[params.runtime].plan(facts, params);
  },
  verify(facts: Observed<Needs>, params): Verdict {
    const { lacks, hasAnswered } = platforms[params.runtime];
    const because = lacks(facts, params);
    if (because.length > 0) return { ok: false, because, answered: hasAnswered(facts) };
    const detail = `the live ${params.runtime} has ${params.runtimeName} as asked`;
    return { ok: true, because: [{ because: 'live_as_asked', detail }] };
  },
});

interface Platform {
  plan(facts: Observed<Needs>, params: ConfigureRuntimeParams): Plan;
  /** What the live engine does not have of what was asked. */
  lacks(facts: Observed<Needs>, params: ConfigureRuntimeParams): PlanReason[];
  /** An engine that is up since the restart has read its configuration: asking it again brings the same. */
  hasAnswered(facts: Observed<Needs>): boolean;
}

const platforms: { readonly [R in Runtime]: Platform } = {
  docker: {
    plan: planDocker,
    lacks: ({ docker }, params) => whatDockerLacks(docker, params),
    hasAnswered: ({ docker }) => docker.live !== null,
  },
  containerd: {
    plan: planContainerd,
    lacks: (facts, params) => whatContainerdLacks(facts, params, params.runtimePath ?? null),
    hasAnswered: ({ containerd }) => containerd.live?.criReady === true,
  },
  crio: {
    plan: planCrio,
    lacks: ({ crio }, params) => whatCrioLacks(crio, params, params.runtimePath ?? null),
    hasAnswered: ({ crio }) => crio.live !== null,
  },
  k3s: {
    plan: ({ k3s, toolkit }, params) => planRancher('k3s', k3s, toolkit, params),
    lacks: ({ k3s }, params) => whatRancherLacks('k3s', k3s, params),
    hasAnswered: ({ k3s }) => k3s.live !== null,
  },
  rke2: {
    plan: ({ rke2, toolkit }, params) => planRancher('rke2', rke2, toolkit, params),
    lacks: ({ rke2 }, params) => whatRancherLacks('rke2', rke2, params),
    hasAnswered: ({ rke2 }) => rke2.live !== null,
  },
  microk8s: {
    plan: planMicroK8s,
    lacks: ({ microk8s }, params) => whatMicroK8sLacks(microk8s, params),
    hasAnswered: ({ microk8s }) => microk8s.live !== null,
  },
};
