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
