import { join } from 'node:path';
import { FleetError } from '@gpufleet/shared/core';

/** The server's settings, read from the environment and flags in `main.ts` only. */
export interface Config {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Path of the SQLite file. */
  databasePath: string;
  /** Folder for keys and the first admin token, 0700. */
  stateDir: string;
  logLevel: string;
  heartbeatEveryMs: number;
  /** A host that was not heard of for this long is offline. */
  offlineAfterMs: number;
  /** After start, no grant before agents with open attempts came back or this passed. */
  reconcileAfterMs: number;
  /** How often the rollout loop looks. */
  tickEveryMs: number;
  /** How long a ticket resumes a session. */
  ticketTtlMs: number;
  /** How long a grant may be begun after it was signed. */
  grantTtlMs: number;
  /** Limits of kept history. */
  keep: {
    factChangesPerHost: number;
    clearedFindingsMs: number;
    eventsMax: number;
    auditMs: number;
    settledJobsMs: number;
  };
}

const dayMs = 86_400_000;
/** A longer timer overflows and fires at once. */
const longestMs = 2_147_483_647;
const longestDays = 36_500;
const mostRows = 1_000_000_000;

/** Throws `bad_config` with the name of what is wrong. */
export function readConfig(flags: ConfigFlags, env: Readonly<Record<string, string | undefined>>): Config {
  const tuned = (name: string, standard: number, least: number, most = longestMs) =>
    numberFrom(`GPUFLEET_${name}`, env[`GPUFLEET_${name}`], standard, least, most);
  const heartbeatEveryMs = tuned('HEARTBEAT_EVERY_MS', 10_000, 100);
  return {
    host: flags.host,
    port: numberFrom('--port', flags.port, 8080, 0, 65_535),
    databasePath: flags.database ?? join(flags.stateDir, 'fleet.db'),
    stateDir: flags.stateDir,
    logLevel: flags.logLevel,
    heartbeatEveryMs,
    offlineAfterMs: tuned('OFFLINE_AFTER_MS', 3 * heartbeatEveryMs, heartbeatEveryMs),
    reconcileAfterMs: tuned('RECONCILE_AFTER_MS', 60_000, 0),
    tickEveryMs: tuned('TICK_EVERY_MS', 1_000, 10),
    ticketTtlMs: tuned('TICKET_TTL_MS', dayMs, 1_000),
    grantTtlMs: tuned('GRANT_TTL_MS', 60_000, 1_000),
    keep: {
      factChangesPerHost: tuned('KEEP_FACT_CHANGES', 500, 1, mostRows),
      eventsMax: tuned('KEEP_EVENTS', 100_000, 1, mostRows),
      clearedFindingsMs: tuned('KEEP_CLEARED_FINDINGS_DAYS', 90, 1, longestDays) * dayMs,
      auditMs: tuned('KEEP_AUDIT_DAYS', 400, 1, longestDays) * dayMs,
      settledJobsMs: tuned('KEEP_JOBS_DAYS', 180, 1, longestDays) * dayMs,
    },
  };
}

export interface ConfigFlags {
  host: string;
  port: string;
  database?: string;
  stateDir: string;
  logLevel: string;
}

function numberFrom(name: string, text: string | undefined, standard: number, least: number, most: number): number {
  if (text === undefined) return standard;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new FleetError('bad_config', `${name} must be a whole number ${least}–${most}, not ${JSON.stringify(text)}`, {
    name,
  });
}
