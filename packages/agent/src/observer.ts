import type { Clock, Sha256 } from '@gpufleet/shared/core';
import { type Diagnosis, diagnose } from '@gpufleet/shared/diagnosis';
import type { Facts } from '@gpufleet/shared/probes';
import { collectFacts } from './collector/collect-facts.ts';
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
  /** A look that begins after this call. */
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
  everyMs: number;
  onObservation(observation: Observation): void;
}

export function createObserver(deps: ObserverDeps): Observer {
  let latest: Observation | undefined;
  let running: Promise<Observation> = Promise.reject(new Error('no look yet'));
  running.catch(() => undefined);
  let next: Promise<Observation> | undefined;
  let busy = false;
  let cancel: (() => void) | undefined;

  async function look(): Promise<Observation> {
    const facts = await collectFacts({ host: deps.host, sha256: deps.sha256 });
    const diagnosis = diagnose(facts);
    const observation = { facts, diagnosis, sections: sectionsOf(facts, diagnosis, deps.sha256) };
    latest = observation;
    deps.onObservation(observation);
    return observation;
  }

  function begin(): Promise<Observation> {
    busy = true;
    running = look().finally(() => {
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

  async function beat(): Promise<void> {
    try {
      if (!busy) await begin();
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
