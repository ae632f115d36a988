import type { LinkSettings } from './connection/machine.ts';

/** What a running agent may be told; every value has a default that fits a real host. */
export interface AgentConfig {
  /** How often the whole host is looked at again. */
  observeEveryMs: number;
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
  observeEveryMs: 60_000,
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
  /** systemd's journal reads priorities from the start of a line. */
  toJournal: boolean;
  colour: boolean;
}

export function readEnvironment(env: NodeJS.ProcessEnv, stdoutIsTerminal: boolean): Environment {
  return {
    stateDir: env.GPUFLEET_STATE_DIR ?? '/var/lib/gpufleet',
    logLevel: env.GPUFLEET_LOG_LEVEL ?? 'info',
    toJournal: env.JOURNAL_STREAM !== undefined,
    colour: stdoutIsTerminal && env.NO_COLOR === undefined && env.TERM !== 'dumb',
  };
}
