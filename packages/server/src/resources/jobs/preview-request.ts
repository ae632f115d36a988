import { createHash } from 'node:crypto';
import type { JobPreview } from '@gpufleet/shared/api';
import { FleetError, toCanonicalJson } from '@gpufleet/shared/core';
import {
  disruptionOfPlan,
  type Holder,
  JobRequest,
  needsOfRequest,
  parseRequest,
  planHashOf,
  planJob,
  stepTitle,
} from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import { toJson } from '../../db/index.ts';

export const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** The request with its defaults filled in, so that both sides hash the same params. Refuses what this build cannot do. */
export function normalizeRequest(request: JobRequest, path: string): JobRequest {
  const parsed = parseRequest(request.kind, request.params);
  if (!parsed.ok) throw new FleetError(parsed.because, parsed.detail, { errors: [{ path, message: parsed.detail }] });
  return JobRequest.parse({ kind: request.kind, params: toJson(parsed.params) });
}

/** What the host is expected to plan, from its last known facts. The host plans afresh and has the last word. */
export function previewRequest(request: JobRequest, facts: Partial<Facts>): JobPreview {
  const parsed = parseRequest(request.kind, request.params);
  const plan = planJob(request, facts);
  const steps = plan.outcome === 'plan' ? plan.steps : [];
  const read = needsOfRequest(request).map((key) => facts[key]?.readAtMs ?? 0);
  return {
    outcome: plan.outcome,
    because: plan.because,
    steps: steps.map(stepTitle),
    holders: plan.outcome === 'plan' ? plan.holders.map(holderText) : [],
    disruption: disruptionOfPlan(steps),
    worstCaseMs: parsed.ok ? parsed.job.worstCaseMs : 0,
    planHash:
      parsed.ok && plan.outcome !== 'blocked'
        ? planHashOf({ kind: request.kind, params: parsed.params, steps }, sha256)
        : null,
    factsReadAtMs: read.length === 0 ? null : Math.min(...read),
  };
}

/** Previews many hosts: equal requests on equal facts are planned once. */
export function createPreviewer(): (request: JobRequest, facts: Facts) => JobPreview {
  const known = new Map<string, JobPreview>();
  return (request, facts) => {
    const values = needsOfRequest(request).map((key) => facts[key].value ?? facts[key].unreadable);
    const variant = sha256(toCanonicalJson([request, values]));
    const readAtMs = Math.min(...needsOfRequest(request).map((key) => facts[key].readAtMs));
    const preview = known.get(variant) ?? previewRequest(request, facts);
    known.set(variant, preview);
    return { ...preview, factsReadAtMs: Number.isFinite(readAtMs) ? readAtMs : null };
  };
}

function holderText(holder: Holder): string {
  return holder.pid === null ? `${holder.type} ${holder.name}` : `${holder.type} ${holder.name} (pid ${holder.pid})`;
}

/** From the grant to the settled result; 0 for a kind that cannot be carried out. */
export function previewWorstCaseMs(request: JobRequest): number {
  const parsed = parseRequest(request.kind, request.params);
  return parsed.ok ? parsed.job.worstCaseMs : 0;
}
