import { FleetError } from '@gpufleet/shared/core';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import { collectFacts } from '../collector/collect-facts.ts';
import { createRealHost } from '../host/real/index.ts';
import { createFileStateDir } from '../host/state-dir/index.ts';
import { sha256 } from '../identity/key.ts';
import { createJobEngine } from '../jobs/create-job-engine.ts';
import type { JobEngine } from '../jobs/engine.ts';
import { createLog } from '../log.ts';
import { type Context, type ExitCode, exit } from './context.ts';
import { askAgent } from './control/client.ts';
import { holdStateDir } from './control/listen.ts';
import { controlPath } from './control/paths.ts';
import type { ControlAnswer, ControlRequest } from './control/protocol.ts';

type Order = Extract<ControlRequest, { do: 'run' | 'undo' }>;

export interface Acting<T> {
  order: ControlRequest;
  /** What the answer says; undefined: it is an answer to something else. */
  read(answer: ControlAnswer): T | undefined;
  /** The same without a running agent. */
  here(engine: JobEngine): Promise<T>;
}

/** Carries out one job on this machine. */
export function actOn(context: Context, stateDir: string, order: Order): Promise<AttemptResult> {
  return act(context, stateDir, {
    order,
    read: (answer) => (answer.type === 'result' ? answer.result : undefined),
    async here(engine) {
      // What a crash left open is finished or undone before anything new begins.
      await engine.recover();
      await engine.idle();
      return order.do === 'run' ? engine.runLocal(order.request, order.planHash) : engine.undo(order.attemptId);
    },
  });
}

/** Follows one order: by the running agent where there is one, else here, under the same lock. */
export async function act<T>(context: Context, stateDir: string, { order, read, here }: Acting<T>): Promise<T> {
  const asked = await askAgent(controlPath(stateDir), order);
  if (asked.ok) return readAnswer(asked.answer, read);
  if (asked.because === 'denied')
    throw new FleetError('denied', `the agent of ${stateDir} takes orders from root only: run as root`);
  const engine = openEngine(context, stateDir);
  const held = await holdStateDir(stateDir, createFileStateDir(stateDir), async () => ({
    type: 'refused',
    code: 'busy',
    detail: 'a manual job runs on this host',
  }));
  try {
    return await here(engine);
  } finally {
    await engine.stop();
    held.close();
  }
}

export function openEngine(context: Context, stateDir: string): JobEngine {
  const { clock, environment } = context;
  return createJobEngine({
    host: createRealHost({ clock }),
    state: createFileStateDir(stateDir),
    sha256,
    collectFacts,
    clock,
    log: createLog({ level: 'warn', toJournal: environment.toJournal, write: context.err }),
    onProgress: ({ step, steps, text }) => context.err(`${step === null ? '' : `[${step + 1}/${steps}] `}${text}\n`),
  });
}

export function renderResult(result: AttemptResult): string {
  const lines = [`${result.attemptId}: ${result.outcome}`];
  lines.push(...result.because.map(({ because, detail }) => `  ${because}: ${detail}`));
  lines.push(...result.steps.map(({ title, state }) => `  ${state.padEnd(11)} ${title}`));
  lines.push(...result.diffs.map(({ diff }) => diff.trimEnd()));
  return `${lines.join('\n')}\n`;
}

export function exitOfResult({ outcome }: AttemptResult): ExitCode {
  return outcome === 'succeeded' || outcome === 'noop' ? exit.fine : exit.bad;
}

function readAnswer<T>(answer: ControlAnswer, read: (answer: ControlAnswer) => T | undefined): T {
  if (answer.type === 'refused') throw new FleetError(answer.code, answer.detail);
  const value = read(answer);
  if (value !== undefined) return value;
  throw new FleetError('agent_unreachable', 'the running agent answered something else');
}
