import { z } from 'zod';
import { JobRequest } from '../jobs/job-request.ts';
import { Duration } from './duration.ts';

const Name = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'a name is 1–63 small letters, digits, . -');
const Percent = z.number().min(0).max(100);
export const FindingCode = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, 'a finding code is UPPER_SNAKE')
  .max(128);
export const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time is HH:MM');
export const Weekday = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

/** When work may start. `zone: site` takes each site's own; `to` before `from` runs over midnight. */
export const Window = z.strictObject({
  zone: z.string().min(1).max(64).default('site'),
  days: z.array(Weekday).min(1).max(7).default(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']),
  from: TimeOfDay,
  to: TimeOfDay,
});
export type Window = z.infer<typeof Window>;

export const WaveRule = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('site') }),
  z.strictObject({ by: z.literal('percent'), size: Percent.gt(0) }),
  z.strictObject({ by: z.literal('count'), size: z.int().min(1) }),
]);

export const Strategy = z.strictObject({
  /** `perClass: 0` is no canary. */
  canary: z.strictObject({ perClass: z.int().min(0).max(10) }).default({ perClass: 1 }),
  waves: z
    .array(WaveRule)
    .min(1)
    .max(20)
    .default([{ by: 'site' }]),
  failure: z.strictObject({ percent: Percent, max: z.int().min(0) }).default({ percent: 10, max: 3 }),
  soak: Duration.default('10m'),
  gate: z.enum(['automatic', 'manual']).default('automatic'),
  budget: z.strictObject({ percent: Percent, max: z.int().min(1) }).default({ percent: 25, max: 5 }),
  offline: z.enum(['defer', 'wait', 'skip', 'fail']).default('defer'),
  deferAfter: Duration.default('5m'),
  /** How long the lane of deferred hosts stays open after the last wave passed. */
  catchUp: Duration.default('24h'),
  contactGrace: Duration.default('2m'),
  window: Window.optional(),
  /** Says yes to restarting the only server of a Kubernetes cluster, or one of two: its API is away meanwhile. */
  allowControlPlaneDowntime: z.boolean().default(false),
});
export type Strategy = z.infer<typeof Strategy>;

export const Target = z.strictObject({
  sites: z.array(z.string().max(64)).min(1).max(1_000).optional(),
  /** Kubernetes selector syntax: `gpu=a100,env!=lab,tier in (a,b),!old`. */
  selector: z.string().max(1_000).optional(),
  findings: z.array(FindingCode).min(1).max(200).optional(),
  /** By id or name. */
  exclude: z.array(z.string().max(64)).max(10_000).default([]),
});
export type Target = z.infer<typeof Target>;

/** What an operator writes (YAML or JSON). Exactly one of `remedyOf` and `jobs`. */
export const RolloutSpec = z
  .strictObject({
    apiVersion: z.literal('gpufleet/v1'),
    kind: z.literal('Rollout'),
    name: Name,
    target: Target.default({ exclude: [] }),
    remedyOf: FindingCode.optional(),
    jobs: z.array(JobRequest).min(1).max(10).optional(),
    strategy: Strategy.prefault({}),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
  })
  .refine((spec) => (spec.remedyOf === undefined) !== (spec.jobs === undefined), {
    message: 'give exactly one of remedyOf and jobs',
    path: ['remedyOf'],
  });
export type RolloutSpec = z.infer<typeof RolloutSpec>;
