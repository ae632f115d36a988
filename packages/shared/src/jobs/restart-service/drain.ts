import type { FactValue } from '../../probes/facts.ts';
import { drainOf } from '../kube-parts.ts';
import { blocked } from '../plan-parts.ts';
import type { Plan } from '../step.ts';

/** Units whose restart the pods of a node can notice. */
const underPods =
  /^(k3s|k3s-agent|rke2-server|rke2-agent|containerd|crio|kubelet|snap\.microk8s\.daemon-(containerd|kubelite))$/;

const timeoutMs = 10 * 60_000;

/** The same restart on a node that its pods were taken off before, and come back to after. */
export function withDrain(plan: Plan, unit: string, kube: FactValue<'kube'> | null): Plan {
  if (!underPods.test(unit)) return blocked('unsupported_params', `drain: no pods depend on ${unit}.service`);
  // What does not run has no pods to lose, and nothing is restarted where there is no plan.
  if (plan.outcome !== 'plan' || !plan.steps.some((step) => step.do === 'restart_unit')) return plan;
  if (kube === null) return blocked('fact_unreadable', 'kube: the cluster is not known, and the node is to be drained');
  const drain = drainOf(kube, { pods: 'all', emptyDir: 'refuse', unmanaged: 'refuse', timeoutMs });
  if (!drain.ok) return { outcome: 'blocked', because: [drain.because] };
  const steps = [...drain.before, ...plan.steps, ...drain.after];
  return { ...plan, steps, holders: [...plan.holders, ...drain.holders] };
}
