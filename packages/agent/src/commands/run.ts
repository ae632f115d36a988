import { FleetError } from '@gpufleet/shared/core';
import { collectFacts } from '../collector/collect-facts.ts';
import { createRealHost } from '../host/real/index.ts';
import { sha256 } from '../identity/key.ts';
import { actOn, exitOfResult, renderResult } from './act.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { type DescribedPlan, describePlan } from './describe-plan.ts';
import { parseJobRequest } from './parse-params.ts';
import { renderPlan } from './plan.ts';

export interface RunOptions {
  stateDir: string;
  kind: string;
  params: string[];
  yes: boolean;
  json: boolean;
}

/** One job on this machine, by a person on it. Shows the plan first and does nothing without a yes, given before or at the terminal. */
export async function runCommand(context: Context, options: RunOptions): Promise<ExitCode> {
  const request = parseJobRequest(options.kind, options.params);
  const host = createRealHost({ clock: context.clock });
  const plan = await describePlan(host, request, await collectFacts({ host, sha256 }), sha256);
  const said = await mayBegin(context, options, plan);
  if (said !== 'begin') return said;
  const result = await actOn(context, options.stateDir, { do: 'run', request, planHash: plan.planHash });
  context.out(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderResult(result));
  return exitOfResult(result);
}

/** `begin`, or the exit code of a command that has shown its plan and does no more. */
export async function mayBegin(
  context: Pick<Context, 'out' | 'err' | 'ask'>,
  { yes, json }: Pick<RunOptions, 'yes' | 'json'>,
  plan: DescribedPlan,
): Promise<ExitCode | 'begin'> {
  if (yes && plan.outcome === 'plan') return 'begin';
  const asks = context.ask !== undefined && plan.outcome === 'plan';
  // All of the output is to be the result: what is asked about is shown where it is asked.
  if (asks) context.err(renderPlan(plan));
  else context.out(json ? `${JSON.stringify(plan, null, 2)}\n` : renderPlan(plan));
  // What is blocked or there already needs no yes, and leaves no attempt behind.
  if (plan.outcome === 'noop') return exit.fine;
  if (plan.outcome === 'blocked') return exit.refused;
  const answer = await context.ask?.('carry this plan out? [y/N] ');
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return 'begin';
  throw new FleetError('not_confirmed', 'nothing was done: give --yes to carry this plan out');
}

export async function undoCommand(
  context: Context,
  attemptId: string,
  options: { stateDir: string; json: boolean },
): Promise<ExitCode> {
  const result = await actOn(context, options.stateDir, { do: 'undo', attemptId });
  context.out(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderResult(result));
  return exitOfResult(result);
}
