import type { Clock, Json, Sha256 } from '@gpufleet/shared/core';
import type { PlanReason, Step, StepOf, StepSnapshot } from '@gpufleet/shared/jobs';
import type { Facts, ProbeKey } from '@gpufleet/shared/probes';
import type { Host } from '../host/host.ts';

export interface StepContext {
  host: Host;
  sha256: Sha256;
  clock: Clock;
  collectFacts(only: ProbeKey[]): Promise<Partial<Facts>>;
  /** Of this very step, for those that change a file. */
  snapshot: StepSnapshot | undefined;
  /** Text of a copy in the attempt's snapshot folder; undefined when it is gone. */
  readSnapshot(name: string): Promise<string | undefined>;
  /** Ends early when the agent stops. */
  pause(ms: number): Promise<void>;
  isStopping(): boolean;
  /** A line for people about work that takes long; may be lost. */
  tell(text: string): void;
}

/**
 * `effect: false`: refused before anything was done, so that nothing of ours is there to put back. `interrupted`: the
 * agent stops in the middle; the next one looks what became of the step.
 */
export type StepOutcome = { ok: true } | Failure;
export type Failure = { ok: false; because: PlanReason; effect?: false } | { ok: false; interrupted: true };

/** What is there of an effect whose end was not journaled. */
export type Trace = 'present' | 'absent' | 'unclear';

/** How one primitive is done, and how one sees afterwards that it was. Neither throws for what a host may do. */
export interface Executor<S extends Step> {
  /** Read just before the effect and journaled with it: what `probe` compares with. */
  before(context: StepContext, step: S): Promise<Json>;
  /** Re-reads what it changed: an exit code is not success. */
  apply(context: StepContext, step: S): Promise<StepOutcome>;
  probe(context: StepContext, step: S, before: unknown): Promise<Trace>;
  /** Done again it leaves the same: after a crash an absent effect may be made in the same attempt. */
  idempotent: boolean;
}

export type Executors = { [D in Step['do']]: Executor<StepOf<D>> };

export const done: StepOutcome = { ok: true };

export function failed(because: string, detail: string): Extract<Failure, { because: PlanReason }> {
  return { ok: false, because: { because, detail } };
}

export function refused(because: string, detail: string): StepOutcome {
  return { ok: false, because: { because, detail }, effect: false };
}

export const interrupted = { ok: false, interrupted: true } as const;

export function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 300) ?? '';
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
