import type { JobRequest } from '@gpufleet/shared/jobs';
import type { AttemptResult, Grant } from '@gpufleet/shared/protocol';
import { collectFacts } from '../../collector/collect-facts.ts';
import {
  createSimulatedHost,
  type FaultSpec,
  type SimulatedClass,
  type SimulatedHost,
} from '../../host/simulated/index.ts';
import { createMemoryStateDir } from '../../host/state-dir/index.ts';
import type { StateDir } from '../../host/state-dir.ts';
import { sha256 } from '../../identity/key.ts';
import { createJobEngine } from '../create-job-engine.ts';
import type { EngineDeps, JobEngine, Log } from '../engine.ts';
import { createEagerClock, type EagerClock } from './eager-clock.ts';

/** Keeps what was logged as an error, so that a test can say that nothing was. */
function createFakeLog(): Log & { errors: { fields: Record<string, unknown>; message: string }[] } {
  const errors: { fields: Record<string, unknown>; message: string }[] = [];
  return {
    errors,
    info: () => undefined,
    warn: () => undefined,
    error: (fields, message) => void errors.push({ fields, message }),
  };
}

export interface Bench {
  host: SimulatedHost;
  state: StateDir;
  clock: EagerClock;
  log: ReturnType<typeof createFakeLog>;
  results: AttemptResult[];
  progress: string[];
  /** An agent process with this state; `over` disturbs it. */
  engine(over?: Partial<EngineDeps>): JobEngine;
}

export function aBench(hostClass: SimulatedClass, faults: FaultSpec[] = []): Bench {
  const clock = createEagerClock();
  const host = createSimulatedHost({ class: hostClass, name: 'host-1', clock, faults });
  const bench: Bench = {
    host,
    state: createMemoryStateDir(),
    clock,
    log: createFakeLog(),
    results: [],
    progress: [],
    engine: (over) =>
      createJobEngine({
        host,
        state: bench.state,
        sha256,
        collectFacts,
        clock,
        log: bench.log,
        onResult: (result) => void bench.results.push(result),
        onProgress: ({ text }) => void bench.progress.push(text),
        ...over,
      }),
  };
  return bench;
}

export function aGrant(request: JobRequest, over: Partial<Grant> = {}): Grant {
  return {
    version: 1,
    hostId: 'h1',
    attemptId: 'attempt-1',
    jobId: 'job-1',
    request,
    planHash: null,
    serverEpoch: 3,
    sessionEpoch: 1,
    notBeforeMs: 0,
    expiresAtMs: 0,
    deadlineMs: 15 * 60_000,
    nonce: 'n',
    ...over,
  };
}
