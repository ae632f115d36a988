/**
 * What a daemon's start came to; `log` is what it would leave in the journal. `ended`: it was no daemon, its work is done.
 */
export type Started = { ok: true; ended?: true } | { ok: false; log: string };

export interface Unit {
  name: string;
  description: string;
  path: string;
  active: 'active' | 'inactive' | 'failed' | 'activating' | 'deactivating';
  sub: string;
  result: 'success' | 'exit-code' | 'timeout';
  enabled: 'enabled' | 'disabled' | 'static';
  startedAtMs: number | null;
  pid: number;
  /** RestartSec of units with Restart=always; null: it stays down when it fails. */
  restartAfterMs: number | null;
  /** StartLimitBurst: after so many failures in a row systemd gives up; null: never. */
  burst: number | null;
  failures: number;
  retryAtMs: number | null;
  /** ExecStart as systemd has loaded it; the files on disk may say something newer. */
  exec: string[];
  log: string[];
  /** While it is deactivating: what the waiting job does once the daemon has ended. */
  afterStop: 'start' | 'stop';
}

/** The value of a daemon's option in its command line, in either spelling. */
export function execOption(unit: Unit, ...names: string[]): string | undefined {
  for (const [at, word] of unit.exec.entries()) {
    for (const name of names) {
      if (word === name) return unit.exec[at + 1];
      if (word.startsWith(`${name}=`)) return word.slice(name.length + 1);
    }
  }
  return undefined;
}
