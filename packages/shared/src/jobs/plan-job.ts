import { type Sha256, toCanonicalJson } from '../core/index.ts';
import type { Facts, ProbeKey } from '../probes/facts.ts';
import { alsoObserved, type Job, observe, type Verdict } from './define-job.ts';
import { JobKind, type JobRequest } from './job-request.ts';
import { blocked, reason } from './plan-parts.ts';
import { jobRegistry } from './registry.ts';
import type { Plan, Step } from './step.ts';

export type ParsedRequest =
  | { ok: true; kind: JobKind; job: Job; params: unknown }
  | { ok: false; because: 'unsupported_params' | 'not_available_yet'; detail: string };

/** Strict: what this build never heard of is refused, since half a job is another job. */
export function parseRequest(kind: string, params: unknown): ParsedRequest {
  const known = JobKind.safeParse(kind);
  if (!known.success) return { ok: false, because: 'unsupported_params', detail: `there is no job kind ${kind}` };
  const job = jobRegistry[known.data];
  if (job === null)
    return { ok: false, because: 'not_available_yet', detail: `${kind} is not carried out by this version` };
  const parsed = job.params.safeParse(params);
  if (parsed.success) return { ok: true, kind: known.data, job, params: parsed.data };
  const detail = parsed.error.issues.map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? `unknown: ${issue.keys.join(', ')}` : issue.message;
    return [kind, ...issue.path].join('.').concat(`: ${unknown}`);
  });
  return { ok: false, because: 'unsupported_params', detail: detail.join('; ') };
}

/** Facts that a request's plan and verification rest on; none for a request that is refused anyway. */
export function needsOfRequest(request: JobRequest): readonly ProbeKey[] {
  const parsed = parseRequest(request.kind, request.params);
  if (!parsed.ok) return [];
  return [...new Set([...parsed.job.needs(parsed.params), ...(parsed.job.uses?.(parsed.params) ?? [])])];
}

export function planJob(request: JobRequest, facts: Partial<Facts>): Plan {
  const parsed = parseRequest(request.kind, request.params);
  if (!parsed.ok) return blocked(parsed.because, parsed.detail);
  const observed = observe(facts, parsed.job.needs(parsed.params));
  if (!observed.ok) return blocked('fact_unreadable', `${observed.probe}: ${observed.because}`);
  const also = alsoObserved(facts, parsed.job.uses?.(parsed.params) ?? []);
  return parsed.job.plan(observed.observed, parsed.params, also);
}

/** Asked of fresh facts; `before` are those that the plan was made on. */
export function verifyJob(request: JobRequest, facts: Partial<Facts>, before: Partial<Facts>): Verdict {
  const parsed = parseRequest(request.kind, request.params);
  if (!parsed.ok) return { ok: false, because: [reason(parsed.because, parsed.detail)], answered: false };
  const needs = parsed.job.needs(parsed.params);
  const now = observe(facts, needs);
  if (!now.ok)
    return { ok: false, because: [reason('fact_unreadable', `${now.probe}: ${now.because}`)], answered: false };
  const uses = parsed.job.uses?.(parsed.params) ?? [];
  const then = observe(before, needs);
  const earlier = { ...alsoObserved(before, uses), ...(then.ok ? then.observed : now.observed) };
  return parsed.job.verify(now.observed, parsed.params, earlier, alsoObserved(facts, uses));
}

/** The same for the same intent on the same base: no texts, times or names of temporary things are in it. */
export function planHashOf(plan: { kind: JobKind; params: unknown; steps: readonly Step[] }, sha256: Sha256): string {
  const steps = plan.steps.map((step) => {
    if (step.do === 'edit_file')
      return { do: step.do, path: step.path, baseSha256: step.baseSha256, edits: step.edits };
    if (step.do === 'write_file')
      return { do: step.do, path: step.path, baseSha256: step.baseSha256, contentsSha256: sha256(step.contents) };
    if (step.do === 'generate_cdi_spec') return { ...step, newMode: undefined };
    return 'timeoutMs' in step ? { ...step, timeoutMs: undefined } : step;
  });
  return sha256(toCanonicalJson({ kind: plan.kind, params: plan.params, steps }));
}
