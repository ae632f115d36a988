import type { Sha256 } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';
import {
  type Disruption,
  disruptionOfPlan,
  type Holder,
  type JobRequest,
  type Plan,
  type PlanReason,
  parseRequest,
  planHashOf,
  planJob,
  restartsOfPlan,
  type Step,
  type StepOf,
} from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import { applyEdits, diffText } from '@gpufleet/shared/transforms';
import type { Host } from '../host/host.ts';

/** A file as it would be after the plan. */
export interface PlannedFile {
  path: string;
  beforeSha256: string | null;
  afterBase64: string;
  mode: string;
  diff: string;
}

export interface DescribedPlan {
  outcome: Plan['outcome'];
  because: PlanReason[];
  steps: Step[];
  files: PlannedFile[];
  restarts: string[];
  holders: Holder[];
  disruption: Disruption;
  worstCaseMs: number;
  planHash: string | null;
}

/** What the job would do to this host, with the files as they would be. Changes nothing. */
export async function describePlan(
  host: Host,
  request: JobRequest,
  facts: Facts,
  sha256: Sha256,
): Promise<DescribedPlan> {
  const parsed = parseRequest(request.kind, request.params);
  if (!parsed.ok) return withoutSteps('blocked', [{ because: parsed.because, detail: parsed.detail }]);
  const plan = planJob(request, facts);
  if (plan.outcome !== 'plan') return withoutSteps(plan.outcome, plan.because);
  for (const step of plan.steps) {
    const may = step.do === 'edit_file' ? await host.mayWrite(step.path) : undefined;
    if (may?.ok === false) return withoutSteps('blocked', [{ because: may.because, detail: may.detail }]);
  }
  const files = await planFiles(host, plan.steps, sha256);
  if (!files.ok) return withoutSteps('blocked', [files.reason]);
  return {
    outcome: 'plan',
    because: plan.because,
    steps: plan.steps,
    files: files.files,
    restarts: restartsOfPlan(plan.steps),
    holders: plan.holders,
    disruption: disruptionOfPlan(plan.steps),
    worstCaseMs: parsed.job.worstCaseMs,
    planHash: planHashOf({ kind: parsed.kind, params: parsed.params, steps: plan.steps }, sha256),
  };
}

function withoutSteps(outcome: 'noop' | 'blocked', because: PlanReason[]): DescribedPlan {
  const nothing = { steps: [], files: [], restarts: [], holders: [], worstCaseMs: 0, planHash: null };
  return { outcome, because, ...nothing, disruption: 'none' };
}

type Files = { ok: true; files: PlannedFile[] } | { ok: false; reason: PlanReason };

async function planFiles(host: HostReader, steps: readonly Step[], sha256: Sha256): Promise<Files> {
  const texts = new Map<string, { before: string | null; after: string; mode: number }>();
  for (const step of steps) {
    if (step.do !== 'edit_file') continue;
    const seen = texts.get(step.path);
    const before = seen ? seen.before : await readBase(host, step, sha256);
    if (before !== null && typeof before === 'object') return { ok: false, reason: before };
    const edited = applyEdits(step.format, seen ? seen.after : before, step.edits);
    if (!edited.ok) return { ok: false, reason: { because: edited.because, detail: `${step.path}: ${edited.detail}` } };
    const stat = before === null ? undefined : await host.stat(step.path);
    texts.set(step.path, { before, after: edited.text, mode: stat?.ok ? stat.value.mode : step.newMode });
  }
  const files = [...texts].map(([path, { before, after, mode }]) => ({
    path,
    beforeSha256: before === null ? null : sha256(before),
    afterBase64: Buffer.from(after, 'utf8').toString('base64'),
    mode: mode.toString(8).padStart(4, '0'),
    diff: diffText(path, before, after),
  }));
  return { ok: true, files };
}

/** The text that the plan was made on; a reason when the file is not (or no longer) that. */
async function readBase(
  host: HostReader,
  step: StepOf<'edit_file'>,
  sha256: Sha256,
): Promise<string | null | PlanReason> {
  if (step.baseSha256 === null) return null;
  const read = await host.readText(step.path);
  if (!read.ok) return { because: 'file_unreadable', detail: `${step.path}: ${read.detail}` };
  if (sha256(read.value) !== step.baseSha256)
    return { because: 'changed_since_plan', detail: `${step.path} was written while the plan was made` };
  return read.value;
}
