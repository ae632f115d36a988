import type { StepOf } from '@gpufleet/shared/jobs';
import { type PodToEvict, toPodsToEvict } from '@gpufleet/shared/probes';
import { done, type Executor, failed, interrupted, type StepContext, type StepOutcome } from './executor.ts';
import { kubectl, podsOf, refusedBy } from './kubectl.ts';

type DrainNode = StepOf<'drain_node'>;

const lookEveryMs = 3_000;

export const drainNode: Executor<DrainNode> = {
  idempotent: true,
  /** Who is hit, for the record. */
  async before(context, step) {
    const pods = await podsToEvict(context, step);
    return pods.ok ? pods.value.map(nameOf) : null;
  },
  async apply(context, step) {
    const { clock } = context;
    const untilMs = clock.monotonicMs() + step.timeoutMs;
    const evicted = new Set<string>();
    let held: string[] = [];
    let isFirst = true;
    for (;;) {
      const pods = await podsToEvict(context, step);
      if (!pods.ok) return refusedBy(pods.said);
      if (pods.value.length === 0) return done;
      // Before the first one is gone: half a drain helps nobody.
      const refusal = isFirst ? whyNot(pods.value, step) : null;
      if (refusal) return refusal;
      isFirst = false;
      held = [];
      for (const pod of pods.value.filter(({ uid }) => !evicted.has(uid))) {
        const said = await evict(context, step, pod);
        if ('text' in said || ('because' in said && said.because === 'not_found')) evicted.add(pod.uid);
        else if ('because' in said && said.because === 'budget') held.push(`${nameOf(pod)}: ${said.detail}`);
        else return refusedBy(said);
      }
      if (held.length > 0) context.tell(`waits for a disruption budget: ${held[0]}`);
      if (context.isStopping()) return interrupted;
      if (clock.monotonicMs() >= untilMs) return tooLate(step, pods.value, held);
      await context.pause(lookEveryMs);
    }
  },
  async probe(context, step) {
    const pods = await podsToEvict(context, step);
    if (!pods.ok) return 'unclear';
    return pods.value.length === 0 ? 'present' : 'absent';
  },
};

async function podsToEvict(context: StepContext, { access, node, pods }: DrainNode) {
  const listed = await podsOf(context, access, node);
  if (!listed.ok) return listed;
  return { ok: true as const, value: toPodsToEvict(listed.value).filter(({ usesGpu }) => pods === 'all' || usesGpu) };
}

function whyNot(pods: readonly PodToEvict[], step: DrainNode): StepOutcome | null {
  const lost = step.unmanaged === 'delete' ? [] : pods.filter(({ controller }) => controller === null);
  if (lost.length > 0) return failed('pod_unmanaged', `nothing would make again: ${lost.map(nameOf).join(', ')}`);
  const emptied = step.emptyDir === 'delete' ? [] : pods.filter(({ hasEmptyDir }) => hasEmptyDir);
  if (emptied.length === 0) return null;
  return failed('pod_has_local_data', `the emptyDir would go with: ${emptied.map(nameOf).join(', ')}`);
}

function tooLate(step: DrainNode, pods: readonly PodToEvict[], held: readonly string[]): StepOutcome {
  if (held.length > 0) return failed('drain_held_by_budget', held.join('; '));
  const seconds = step.timeoutMs / 1_000;
  return failed('drain_timed_out', `still on ${step.node} after ${seconds} s: ${pods.map(nameOf).join(', ')}`);
}

/** By the API's own eviction, which asks the disruption budgets; `kubectl drain` cannot choose by resources. */
function evict(context: StepContext, { access }: DrainNode, { namespace, name, uid }: PodToEvict) {
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    // A pod of the same name that was made meanwhile is another one.
    deleteOptions: { preconditions: { uid } },
  };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  return kubectl(context, access, ['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
}

function nameOf({ namespace, name }: Pick<PodToEvict, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
