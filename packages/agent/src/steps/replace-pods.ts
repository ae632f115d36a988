import type { StepOf } from '@gpufleet/shared/jobs';
import { z } from 'zod';
import { done, type Executor, failed, interrupted, type StepContext } from './executor.ts';
import { kubectl, podsOf, refusedBy } from './kubectl.ts';

type ReplacePods = StepOf<'replace_pods'>;

const lookEveryMs = 2_000;

const Pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    ownerReferences: z.array(z.object({ kind: z.string(), name: z.string() })).default([]),
  }),
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
  }),
});

export const replacePods: Executor<ReplacePods> = {
  idempotent: true,
  async before(context, step) {
    const pods = await readPods(context, step);
    return pods.ok ? pods.value.map(({ uid }) => uid) : null;
  },
  async apply(context, step) {
    const { clock } = context;
    const untilMs = clock.monotonicMs() + step.timeoutMs;
    const old = await readPods(context, step);
    if (!old.ok) return refusedBy(old.said);
    for (const { name } of old.value) {
      const said = await kubectl(context, step.access, ['delete', 'pod', name, '-n', step.namespace, '--wait=false']);
      const isGone = 'because' in said && said.because === 'not_found';
      if (!('text' in said) && !isGone) return refusedBy(said);
    }
    const oldIds = old.value.map(({ uid }) => uid);
    for (;;) {
      const now = await readPods(context, step);
      if (!now.ok) return refusedBy(now.said);
      if (areNew(now.value, oldIds) && now.value.every(({ ready }) => ready)) return done;
      if (context.isStopping()) return interrupted;
      if (clock.monotonicMs() >= untilMs)
        return failed('pods_not_ready', `${step.namespace}/${step.daemonSet} has no ready new pod on ${step.node}`);
      await context.pause(lookEveryMs);
    }
  },
  async probe(context, step, before) {
    const pods = await readPods(context, step);
    const oldIds = z.array(z.string()).safeParse(before);
    if (!pods.ok || !oldIds.success) return 'unclear';
    return areNew(pods.value, oldIds.data) ? 'present' : 'absent';
  },
};

interface OwnPod {
  name: string;
  uid: string;
  ready: boolean;
}

function areNew(pods: readonly OwnPod[], oldIds: readonly string[]): boolean {
  return pods.length > 0 && pods.every(({ uid }) => !oldIds.includes(uid));
}

async function readPods(context: StepContext, { access, node, namespace, daemonSet }: ReplacePods) {
  const listed = await podsOf(context, access, node);
  if (!listed.ok) return listed;
  const pods = listed.value.flatMap((item): OwnPod[] => {
    const pod = Pod.safeParse(item);
    if (!pod.success || pod.data.metadata.namespace !== namespace) return [];
    const { name, uid, ownerReferences } = pod.data.metadata;
    if (!ownerReferences.some((owner) => owner.kind === 'DaemonSet' && owner.name === daemonSet)) return [];
    const ready = pod.data.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    return [{ name, uid, ready }];
  });
  return { ok: true as const, value: pods };
}
