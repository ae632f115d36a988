import { z } from 'zod';
import type { Observed, Verdict } from '../define-job.ts';
import { clusterOf } from '../kube-parts.ts';
import { blocked, noop, reason } from '../plan-parts.ts';
import type { KubeObject, Plan, StepOf } from '../step.ts';

const dnsName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/);
const handlerName = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);

export const EnsureRuntimeClassParams = z.strictObject({
  name: dnsName.default('nvidia'),
  /** Name of the runtime in the configuration of the nodes' engines. */
  handler: handlerName.default('nvidia'),
  /** A class of that name with another handler is deleted and made anew: the API does not let it be changed. */
  replace: z.boolean().default(false),
});
export type EnsureRuntimeClassParams = z.infer<typeof EnsureRuntimeClassParams>;

type Facts = Observed<'kube'>;

export function planRuntimeClass({ kube }: Facts, { name, handler, replace }: EnsureRuntimeClassParams): Plan {
  const cluster = clusterOf(kube);
  if (!cluster.ok) return { outcome: 'blocked', because: [cluster.because] };
  if (kube.runtimeClasses === null) return blocked('fact_unreadable', 'kube: the RuntimeClasses could not be listed');
  const there = kube.runtimeClasses.find((one) => one.name === name);
  if (there?.handler === handler) return noop('already_there', `RuntimeClass ${name} has the handler ${handler}`);
  const set = (from: KubeObject | null, to: KubeObject | null): StepOf<'set_object'> => ({
    do: 'set_object',
    access: cluster.access,
    kind: 'RuntimeClass',
    namespace: null,
    name,
    from,
    to,
  });
  const plan = (because: string, detail: string, steps: StepOf<'set_object'>[]): Plan => ({
    outcome: 'plan',
    because: [reason(because, detail)],
    steps,
    holders: [],
  });
  if (there === undefined)
    return plan('runtime_class_missing', `there is no RuntimeClass ${name}`, [set(null, objectOf(handler))]);
  const detail = `RuntimeClass ${name} has the handler ${there.handler}, which cannot be changed`;
  // Pods that name it keep what they run with; new ones find no class for the moment in between.
  if (!replace) return blocked('handler_differs', `${detail}: replace=true makes it anew`);
  return plan('handler_differs', detail, [set({ handler: there.handler }, null), set(null, objectOf(handler))]);
}

function objectOf(handler: string): KubeObject {
  return { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler };
}

export function verifyRuntimeClass({ kube }: Facts, { name, handler }: EnsureRuntimeClassParams): Verdict {
  const there = kube.runtimeClasses?.find((one) => one.name === name);
  if (there?.handler === handler)
    return { ok: true, because: [reason('live_as_asked', `the API has RuntimeClass ${name} with ${handler}`)] };
  const detail = there ? `RuntimeClass ${name} has the handler ${there.handler}` : `there is no RuntimeClass ${name}`;
  return { ok: false, because: [reason('runtime_class_missing', detail)], answered: kube.runtimeClasses !== null };
}
