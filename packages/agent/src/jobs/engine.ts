import type { Clock, Sha256 } from '@gpufleet/shared/core';
import type { Disruption, JobRequest, PlanReason } from '@gpufleet/shared/jobs';
import type { Facts, ProbeKey } from '@gpufleet/shared/probes';
import type { AttemptPhase, AttemptResult, Claim, Grant, OpenAttempt, Progress } from '@gpufleet/shared/protocol';
import type { Host } from '../host/host.ts';
import type { StateDir } from '../host/state-dir.ts';
import type { Quarantine, Release } from './quarantine.ts';

/** What the engine needs of a logger: pino fits. */
export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface EngineDeps {
  host: Host;
  state: StateDir;
  sha256: Sha256;
  /** `collectFacts` of the collector. */
  collectFacts(options: { host: Host; sha256: Sha256; only?: ProbeKey[] }): Promise<Partial<Facts>>;
  /** Monotonic time for polling; deadlines run on the host's boot id and uptime. */
  clock: Clock;
  log: Log;
  /** Monotonic time at which the server last sent anything; null: not since the agent started. Absent: no server. */
  serverHeardAtMs?(): number | null;
  /** One line for each phase or step of an attempt; may be lost, never waited for. */
  onProgress?(progress: Omit<Progress, 'type'>): void;
  /** Called once an attempt, when its result is durable in the outbox. */
  onResult?(result: AttemptResult): void;
}

/** `claim.plan` or the reasons of a `decline`. */
export type Precheck = { ok: true; plan: Claim['plan'] } | { ok: false; because: PlanReason[] };

/** `already`: this attempt is known; a settled one has its result in the outbox again. */
export type Begun =
  | { ok: true; begun: 'now' | 'already' }
  | { ok: false; because: 'busy' | 'quarantined' | 'pruned'; detail: string };

export interface AttemptSummary {
  attemptId: string;
  jobId: string;
  origin: 'server' | 'local';
  undoOf: string | null;
  request: JobRequest;
  disruption: Disruption;
  /** null while the attempt is open. */
  result: AttemptResult | null;
  /** Asked once more after the next boot; null: not asked, or no boot since. */
  afterBoot: { ok: boolean; because: PlanReason[] } | null;
}

/** One attempt at a time; every effect is journaled (fsync) before it is made. */
export interface JobEngine {
  /** Plans afresh; changes nothing. */
  precheck(offer: { attemptId: string; request: JobRequest; planHash: string | null }): Promise<Precheck>;
  /** Resolves when the grant is in the journal; the attempt then runs on its own. The caller has checked the signature. */
  begin(grant: Grant): Promise<Begun>;
  /** Takes effect at the attempt's next safe point; unknown and settled attempts are left alone. */
  cancel(attemptId: string, because: string): Promise<void>;
  /** Called once at start, before anything else: reads the journals and carries on with what was open. */
  recover(): Promise<void>;
  openAttempts(): OpenAttempt[];
  /** Results that the server has not acknowledged, oldest first. */
  owedResults(): Promise<AttemptResult[]>;
  acknowledge(attemptId: string): Promise<void>;
  current(): { attemptId: string; phase: AttemptPhase } | null;
  /** The same without a server: nothing is owed afterwards. `planHash`: of the plan that a person has said yes to. */
  runLocal(request: JobRequest, planHash?: string | null): Promise<AttemptResult>;
  /** A new attempt with the inverse of the steps that the named one did. */
  undo(attemptId: string): Promise<AttemptResult>;
  history(): Promise<AttemptSummary[]>;
  /** Set by a failed roll-back: no new work until a person clears it. */
  quarantine(): Quarantine | null;
  /** Ends it, with the reason on record; null: there was none. Works before `recover`. */
  release(reason: string): Promise<Quarantine | null>;
  releases(): Promise<Release[]>;
  /** Resolves when no attempt runs. */
  idle(): Promise<void>;
  /** Stops polling and takes no new work; an open attempt is carried on by the next `recover`. */
  stop(): Promise<void>;
}
