import { z } from 'zod';
import { Step } from './steps/index.ts';

export { KeyEdit } from './key-edit.ts';
export { kindOf, Step, type StepOf } from './steps/index.ts';
export { KubeAccess, type KubeObject, ObjectBefore } from './steps/kube.ts';
export { candidate, keptFolder, type PackageAt, type PackageManager } from './steps/packages.ts';

export const Disruption = z.enum(['none', 'restarts_containers', 'restarts_runtime', 'resets_gpu', 'reboots']);
export type Disruption = z.infer<typeof Disruption>;

/** Who holds a GPU or would be hit by a restart. */
export const Holder = z.object({
  type: z.enum(['process', 'container', 'pod', 'unit', 'kernel_module']),
  name: z.string(),
  pid: z.int().nullable(),
  gpuUuid: z.string().nullable(),
});
export type Holder = z.infer<typeof Holder>;

/** Why a plan is empty, blocked, or has each of its steps: stable code and a sentence. */
export const PlanReason = z.object({ because: z.string(), detail: z.string() });
export type PlanReason = z.infer<typeof PlanReason>;

export const Plan = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('plan'),
    because: z.array(PlanReason),
    steps: z.array(Step).min(1),
    holders: z.array(Holder),
  }),
  z.object({ outcome: z.literal('noop'), because: z.array(PlanReason).min(1) }),
  z.object({ outcome: z.literal('blocked'), because: z.array(PlanReason).min(1) }),
]);
export type Plan = z.infer<typeof Plan>;
