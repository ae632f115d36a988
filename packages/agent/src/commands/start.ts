import { createAgent } from '../agent.ts';
import { createRealHost } from '../host/real/index.ts';
import { createFileStateDir } from '../host/state-dir/index.ts';
import { createLog } from '../log.ts';
import { agentVersion } from '../version.ts';
import type { Context, ExitCode } from './context.ts';
import { exit } from './context.ts';
import { answerFor } from './control/answer-for.ts';
import { holdStateDir, tellEverybody } from './control/listen.ts';
import { statusPath } from './control/paths.ts';

/** systemd gives more; an operator at a terminal does not. */
const stopWithinMs = 4_000;

export async function start(context: Context, { stateDir }: { stateDir: string }): Promise<ExitCode> {
  const { clock, environment } = context;
  const log = createLog({ level: environment.logLevel, toJournal: environment.toJournal, write: context.err });
  const state = createFileStateDir(stateDir);
  const agent = createAgent({ host: createRealHost({ clock }), state, clock, log });
  const answer = answerFor(agent);
  const held = await holdStateDir(stateDir, state, answer);
  const openPath = statusPath(stateDir, environment.runtimeDir);
  const told = openPath === undefined ? undefined : await tellEverybody(openPath, answer, log);
  // Every timer of the agent lets a process end; this one says that this process is to stay.
  const stay = setInterval(() => undefined, 3_600_000);
  const signal = waitForSignal();
  log.info({ version: agentVersion, pid: process.pid, stateDir }, 'agent starts');
  const name = await Promise.race([signal, agent.start().then(() => signal)]);
  log.info({ signal: name }, 'agent stops');
  const stopped = await Promise.race([agent.stop().then(() => true), after(stopWithinMs).then(() => false)]);
  if (!stopped) log.warn({}, 'work is under way: it is carried on at the next start');
  told?.close();
  held.close();
  clearInterval(stay);
  return exit.fine;
}

function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}

function after(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}
