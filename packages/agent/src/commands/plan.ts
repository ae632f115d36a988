import { resolve } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';
import { stepTitle } from '@gpufleet/shared/jobs';
import { collectFacts } from '../collector/collect-facts.ts';
import { createPrefixedHost, makeRoot } from '../host/prefixed/index.ts';
import { sha256 } from '../identity/key.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { type DescribedPlan, describePlan, type PlannedFile } from './describe-plan.ts';
import { type HostChoice, openHost } from './open-host.ts';
import { parseJobRequest } from './parse-params.ts';

export interface PlanOptions extends HostChoice {
  kind: string;
  params: string[];
  json: boolean;
  writeTo?: string;
}

export async function planCommand(context: Context, options: PlanOptions): Promise<ExitCode> {
  const request = parseJobRequest(options.kind, options.params);
  const host = await openHost(options, context.clock);
  const facts = await collectFacts({ host, sha256 });
  const plan = await describePlan(host, request, facts, sha256);
  if (options.writeTo !== undefined) await writeFiles(options.writeTo, plan.files);
  context.out(options.json ? `${JSON.stringify(plan, null, 2)}\n` : renderPlan(plan));
  return plan.outcome === 'blocked' ? exit.refused : exit.fine;
}

/** Every file that the plan leaves, at its path below `folder`. */
async function writeFiles(folder: string, files: readonly PlannedFile[]): Promise<void> {
  await makeRoot(folder);
  const target = createPrefixedHost(resolve(folder));
  for (const { path, afterBase64, mode } of files) {
    if (afterBase64 === null) continue;
    const before = await target.readText(path);
    const done = await target.writeFile({
      path,
      contents: Buffer.from(afterBase64, 'base64').toString('utf8'),
      newMode: Number.parseInt(mode, 8),
      expectSha256: before.ok ? sha256(before.value) : null,
    });
    if (!done.ok) throw new FleetError('file_unwritable', `${folder}${path}: ${done.because}: ${done.detail}`);
  }
}

export function renderPlan(plan: DescribedPlan): string {
  const lines = [plan.outcome === 'plan' ? 'would change this host:' : `${plan.outcome}:`];
  lines.push(...plan.because.map(({ because, detail }) => `  ${because}: ${detail}`));
  if (plan.outcome !== 'plan') return `${lines.join('\n')}\n`;
  lines.push('steps:', ...plan.steps.map((step, index) => `  ${index + 1}. ${stepTitle(step)}`));
  for (const file of plan.files) lines.push(...renderFile(file));
  if (plan.holders.length > 0)
    lines.push(
      'will be hit:',
      ...plan.holders.map(({ type, name, pid }) => `  ${type} ${name}${pid ? ` (${pid})` : ''}`),
    );
  lines.push(
    `disruption: ${plan.disruption}; away for about ${Math.ceil(plan.downtimeMs / 1000)} s; at worst ${Math.ceil(plan.worstCaseMs / 1000)} s; plan ${plan.planHash?.slice(0, 12)}`,
  );
  return `${lines.join('\n')}\n`;
}

function renderFile({ path, diff, changes }: PlannedFile): string[] {
  const meaning = (changes ?? []).map(
    ({ path: keys, before, after }) => `  ${keys.join('.')}: ${before ?? 'not set'} → ${after ?? 'not set'}`,
  );
  return [...(meaning.length > 0 ? [`means in ${path}:`, ...meaning] : []), diff.trimEnd()];
}
