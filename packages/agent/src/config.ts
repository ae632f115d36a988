import type { LinkSettings } from './connection/machine.ts';

/** What a running agent may be told; every value has a default that fits a real host. */
export interface AgentConfig {
  /** How often the agent sees which probes are due. */
  observeEveryMs: number;
  /** Every probe is due after this long, instead of after its own period. */
  probeEveryMs?: number;
  /** How long the first dial waits for the first facts, so that the hello already names them. */
  firstLookMs: number;
  /** How often the status file is written while nothing changes. */
  statusEveryMs: number;
  /** How often an agent without a session looks whether it has been enrolled, or enrolled anew. */
  identityEveryMs: number;
  /** How often results that the server has not acknowledged are sent again. */
  resendEveryMs: number;
  link: Partial<LinkSettings>;
}

export const defaultAgentConfig: AgentConfig = {
  observeEveryMs: 10_000,
  firstLookMs: 5_000,
  statusEveryMs: 60_000,
  identityEveryMs: 10_000,
  resendEveryMs: 30_000,
  link: {},
};

/** What the commands take from the environment; flags win. */
export interface Environment {
  stateDir: string;
  logLevel: string;
  /** Made by systemd for what may be seen by everybody. */
  runtimeDir: string | undefined;
  /** systemd's journal reads priorities from the start of a line. */
  toJournal: boolean;
  color: boolean;
  /** Width of the terminal. */
  columns: number;
}

export function readEnvironment(
  env: NodeJS.ProcessEnv,
  stdout: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
): Environment {
  return {
    stateDir: env.GPUFLEET_AGENT_STATE_DIR || '/var/lib/gpufleet',
    logLevel: env.GPUFLEET_AGENT_LOG_LEVEL || 'info',
    runtimeDir: env.RUNTIME_DIRECTORY || undefined,
    toJournal: env.JOURNAL_STREAM !== undefined,
    color: stdout.isTTY === true && env.NO_COLOR === undefined && env.TERM !== 'dumb',
    columns: Math.min(Math.max(stdout.columns ?? 100, 60), 140),
  };
}
