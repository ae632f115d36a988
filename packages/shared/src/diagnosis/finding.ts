import { z } from 'zod';
import { JobRequest } from '../jobs/job-request.ts';

/** From the bottom up: a fault below explains faults above it. */
export const layers = [
  'hardware',
  'driver',
  'device_nodes',
  'toolkit',
  'engine',
  'kubernetes',
  'workload',
  'host',
] as const;
export const Layer = z.enum(layers);
export type Layer = z.infer<typeof Layer>;

/** Worst first. */
export const severities = ['blocker', 'critical', 'degraded', 'warning', 'info'] as const;
export const Severity = z.enum(severities);
export type Severity = z.infer<typeof Severity>;

export const Remedy = z.object({
  jobs: z.array(JobRequest).min(1),
  /** auto = safe unattended; window = right but interrupts workloads; approve = a person says yes first. */
  approval: z.enum(['auto', 'window', 'approve']),
});
export type Remedy = z.infer<typeof Remedy>;

/** What a rule says of a host. Identity within a host: code + subject. */
export const Finding = z.object({
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  /** `gpu:UUID`, `file:/path`, `unit:NAME` or null for the host as a whole. */
  subject: z.string().nullable(),
  layer: Layer,
  severity: Severity,
  summary: z.string(),
  evidence: z.array(z.object({ source: z.string(), quote: z.string() })),
  remedy: Remedy.nullable(),
  /** What a person must do, where no job can. */
  person: z.string().nullable(),
  consequenceOf: z.object({ code: z.string(), subject: z.string().nullable() }).nullable(),
});
export type Finding = z.infer<typeof Finding>;

/** A rule that could not decide because a fact it needs was not readable. */
export const CannotTell = z.object({ code: z.string(), because: z.string() });
export type CannotTell = z.infer<typeof CannotTell>;

export const Diagnosis = z.object({ findings: z.array(Finding), cannotTell: z.array(CannotTell) });
export type Diagnosis = z.infer<typeof Diagnosis>;
