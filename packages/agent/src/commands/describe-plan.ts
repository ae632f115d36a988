import type { Sha256 } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';
import {
  type Disruption,
  disruptionOfPlan,
  downtimeOfPlan,
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
import { diffText, diffValues, type ValueChange } from '@gpufleet/shared/transforms';
import type { Host } from '../host/host.ts';
import { type ForeseenFile, foreseeFiles } from '../jobs/foresee-files.ts';
import { foreseePackages } from '../jobs/foresee-packages.ts';

/** A file as it would be after the plan. */
export interface PlannedFile {
  path: string;
  beforeSha256: string | null;
  /** null: the plan removes the file. */
  afterBase64: string | null;
  mode: string;
  diff: string;
  /** Key by key what the change means; null for a file that is no JSON, TOML or YAML. */
  changes: ValueChange[] | null;
}

export interface DescribedPlan {
  outcome: Plan['outcome'];
  because: PlanReason[];
  steps: Step[];
  files: PlannedFile[];
  restarts: string[];
  holders: Holder[];
  disruption: Disruption;
  /** How long what is touched is expected to be away. */
  downtimeMs: number;
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
  const foreseen = await foreseeFiles({ host, sha256 }, plan.steps, noCopies);
  if (!foreseen.ok) return withoutSteps('blocked', [foreseen.because]);
  const objection = await foreseePackages(host, plan.steps);
  if (objection) return withoutSteps('blocked', [objection]);
  return {
    outcome: 'plan',
    because: plan.because,
    steps: plan.steps,
    files: await toPlannedFiles(host, plan.steps, foreseen.files, sha256),
    restarts: restartsOfPlan(plan.steps),
    holders: plan.holders,
    disruption: disruptionOfPlan(plan.steps),
    downtimeMs: downtimeOfPlan(plan.steps),
    worstCaseMs: parsed.job.worstCaseMs,
    planHash: planHashOf({ kind: parsed.kind, params: parsed.params, steps: plan.steps }, sha256),
  };
}

function withoutSteps(outcome: 'noop' | 'blocked', because: PlanReason[]): DescribedPlan {
  const nothing = { steps: [], files: [], restarts: [], holders: [], downtimeMs: 0, worstCaseMs: 0, planHash: null };
  return { outcome, because, ...nothing, disruption: 'none' };
}

/** Only a way back reads copies. */
async function noCopies(): Promise<undefined> {
  return undefined;
}

/** Each file once, from what it is to what the last step leaves. */
async function toPlannedFiles(
  host: HostReader,
  steps: readonly Step[],
  foreseen: readonly ForeseenFile[],
  sha256: Sha256,
): Promise<PlannedFile[]> {
  const files: PlannedFile[] = [];
  for (const path of new Set(foreseen.map((file) => file.path))) {
    const changes = foreseen.filter((file) => file.path === path);
    const before = changes[0]?.before ?? null;
    const after = changes.at(-1)?.after ?? null;
    const edit = steps.find((step): step is StepOf<'edit_file'> => step.do === 'edit_file' && step.path === path);
    const made = steps.find((step) => 'newMode' in step && step.path === path);
    const stat = await host.stat(path);
    const mode = stat.ok ? stat.value.mode : made && 'newMode' in made ? made.newMode : 0;
    files.push({
      path,
      beforeSha256: before === null ? null : sha256(before),
      afterBase64: after === null ? null : Buffer.from(after, 'utf8').toString('base64'),
      mode: mode.toString(8).padStart(4, '0'),
      diff: diffText(path, before, after),
      changes: edit ? diffValues(edit.format, before, after) : null,
    });
  }
  return files;
}
