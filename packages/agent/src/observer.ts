import type { Clock, Sha256 } from '@gpufleet/shared/core';
import { type Diagnosis, diagnose } from '@gpufleet/shared/diagnosis';
import { type Facts, type ProbeKey, probes } from '@gpufleet/shared/probes';
import { collectFacts } from './collector/collect-facts.ts';
import { dueProbes } from './collector/due-probes.ts';
import { type ReportSection, sectionsOf } from './collector/sections-of.ts';
import type { Host } from './host/host.ts';
import type { Log } from './jobs/engine.ts';

export interface Observation {
  facts: Facts;
  diagnosis: Diagnosis;
  sections: ReportSection[];
}

/** Looks at the host again and again; only one look at a time, whoever asks. */
export interface Observer {
  latest(): Observation | undefined;
  /** A look at everything that begins after this call. */
  observe(): Promise<Observation>;
  /** Resolves when the first look is over. */
  start(): Promise<void>;
  stop(): void;
}

export interface ObserverDeps {
  host: Host;
  sha256: Sha256;
  clock: Clock;
  log: Log;
  /** How often to see which probes are due. */
  everyMs: number;
  /** Instead of each probe's own period. */
  freshMs?: number | undefined;
  onObservation(observation: Observation): void;
}

const probeKeys = probes.map(({ key }) => key);

export function createObserver(deps: ObserverDeps): Observer {
  let latest: Observation | undefined;
  const lastReadAtMs: Partial<Record<ProbeKey, number>> = {};
  let running: Promise<Observation> = Promise.reject(new Error('no look yet'));
  running.catch(() => undefined);
  let next: Promise<Observation> | undefined;
  let busy = false;
  let cancel: (() => void) | undefined;

  async function look(only?: readonly ProbeKey[]): Promise<Observation> {
    const { host, sha256, log } = deps;
    const beganAtMs = deps.clock.monotonicMs();
    const previous = latest?.facts ?? {};
    const facts = await collectFacts({ host, sha256, previous, log, ...(only && { only }) });
    for (const key of only ?? probeKeys) lastReadAtMs[key] = beganAtMs;
    const diagnosis = diagnose(facts);
    const observation = { facts, diagnosis, sections: sectionsOf(facts, diagnosis, deps.sha256) };
    latest = observation;
    deps.onObservation(observation);
    return observation;
  }

  function begin(only?: readonly ProbeKey[]): Promise<Observation> {
    busy = true;
    running = look(only).finally(() => {
      busy = false;
    });
    return running;
  }

  function observe(): Promise<Observation> {
    if (!busy) return begin();
    // A look under way may already have read what the caller has just changed: one more follows, shared by all who wait.
    next ??= running.then(forget, forget).then(() => {
      next = undefined;
      return busy ? observe() : begin();
    });
    return next;
  }

  function dueNow(): ProbeKey[] {
    const nowMs = deps.clock.monotonicMs();
    const { freshMs } = deps;
    if (freshMs === undefined) return dueProbes(lastReadAtMs, nowMs);
    return probeKeys.filter((key) => nowMs - (lastReadAtMs[key] ?? Number.NEGATIVE_INFINITY) >= freshMs);
  }

  async function beat(): Promise<void> {
    try {
      const due = dueNow();
      if (!busy && due.length > 0) await begin(due);
    } catch (error) {
      deps.log.error({ error: String(error) }, 'the host could not be observed');
    }
  }

  return {
    latest: () => latest,
    observe,
    start() {
      cancel = deps.clock.every(deps.everyMs, beat);
      return beat();
    },
    stop: () => cancel?.(),
  };
}

function forget(): void {
  // Whoever asked for that look has its result or its error.
}
