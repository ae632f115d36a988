import type { KubeAccess, StepOf } from '@gpufleet/shared/jobs';
import { kubeQuestions } from '@gpufleet/shared/probes';
import { z } from 'zod';
import { done, type Executor, failed, type StepContext, type StepOutcome } from './executor.ts';
import { ask, fieldManager, kubectl, refusedBy } from './kubectl.ts';

/** Set with a cordon of ours in one change, so that nobody else's is taken back. */
const ours = 'gpufleet/cordoned';

const Node = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
  spec: z.object({ unschedulable: z.boolean().default(false) }),
});

export const cordonNode: Executor<StepOf<'cordon_node'>> = {
  idempotent: true,
  async before(context, step) {
    const node = await readNode(context, step);
    return node.ok ? node.value : null;
  },
  async apply(context, step) {
    const before = await readNode(context, step);
    if (!before.ok) return refusedBy(before.said);
    if (before.value.unschedulable) return done;
    const changed = await patch(context, step, { annotation: 'true', unschedulable: true });
    if (!changed.ok) return changed;
    const now = await readNode(context, step);
    if (!now.ok) return refusedBy(now.said);
    return now.value.unschedulable ? done : failed('node_not_cordoned', `${step.node} still takes new pods`);
  },
  async probe(context, step) {
    const node = await readNode(context, step);
    if (!node.ok) return 'unclear';
    return node.value.unschedulable ? 'present' : 'absent';
  },
};

export const uncordonNode: Executor<StepOf<'uncordon_node'>> = {
  idempotent: true,
  async before(context, step) {
    const node = await readNode(context, step);
    return node.ok ? node.value : null;
  },
  async apply(context, step) {
    const before = await readNode(context, step);
    if (!before.ok) return refusedBy(before.said);
    if (!before.value.ours) {
      if (before.value.unschedulable) context.tell(`${step.node} was cordoned by somebody else and stays so`);
      return done;
    }
    const changed = await patch(context, step, { annotation: null, unschedulable: null });
    if (!changed.ok) return changed;
    const now = await readNode(context, step);
    if (!now.ok) return refusedBy(now.said);
    return now.value.ours ? failed('node_still_cordoned', `${step.node} still takes no new pods`) : done;
  },
  async probe(context, step) {
    const node = await readNode(context, step);
    if (!node.ok) return 'unclear';
    return node.value.ours ? 'absent' : 'present';
  },
};

interface OfNode {
  access: KubeAccess;
  node: string;
}

async function readNode(context: StepContext, { access, node }: OfNode) {
  const answer = await ask(context, access, kubeQuestions.node(node), Node);
  if (!answer.ok) return answer;
  const { metadata, spec } = answer.value;
  return { ok: true as const, value: { unschedulable: spec.unschedulable, ours: ours in metadata.annotations } };
}

async function patch(
  context: StepContext,
  { access, node }: OfNode,
  { annotation, unschedulable }: { annotation: string | null; unschedulable: boolean | null },
): Promise<StepOutcome> {
  const change = { metadata: { annotations: { [ours]: annotation } }, spec: { unschedulable } };
  const args = ['patch', 'node', node, '--type=merge', fieldManager, '-p', JSON.stringify(change)];
  const said = await kubectl(context, access, args);
  return 'text' in said ? done : refusedBy(said);
}
