import { randomBytes } from 'node:crypto';
import type { Clock } from '@gpufleet/shared/core';
import { type JobKind, jobRegistry } from '@gpufleet/shared/jobs';
import { type Hello, protocolVersion } from '@gpufleet/shared/protocol';
import type { Host } from '../host/host.ts';
import type { Identity } from '../identity/identity.ts';
import type { ServerEpoch } from '../identity/server-epoch.ts';
import type { JobEngine } from '../jobs/engine.ts';
import type { Observer } from '../observer.ts';
import { agentVersion } from '../version.ts';

export interface HelloMakerDeps {
  host: Host;
  clock: Clock;
  engine: JobEngine;
  observer: Observer;
  serverEpoch: ServerEpoch;
}

export interface HelloMaker {
  describe(identity: Identity): Promise<Omit<Hello, 'type' | 'proof'>>;
  /** Section hashes of the last hello. */
  toldHashes(): Readonly<Record<string, string>>;
  /** The host's uptime, counted on from the last hello: a heartbeat reads nothing. */
  uptimeMs(): number;
}

export function createHelloMaker(deps: HelloMakerDeps): HelloMaker {
  const { host, clock, engine, observer, serverEpoch } = deps;
  const instanceId = randomBytes(12).toString('base64url');
  let sectionHashes: Record<string, string> = {};
  let bootedAtMonotonicMs = clock.monotonicMs();

  return {
    async describe({ hostId, machineFingerprint }) {
      const { bootId, uptimeMs, nowMs } = await host.moment();
      const owed = await engine.owedResults();
      bootedAtMonotonicMs = clock.monotonicMs() - uptimeMs;
      sectionHashes = Object.fromEntries((observer.latest()?.sections ?? []).map(({ name, hash }) => [name, hash]));
      return {
        protocolVersion,
        hostId,
        agentVersion,
        bootId,
        uptimeMs,
        hostNowMs: nowMs,
        instanceId,
        machineFingerprint,
        capabilities: (Object.keys(jobRegistry) as JobKind[]).filter((kind) => jobRegistry[kind] !== null),
        sectionHashes,
        openAttempts: engine.openAttempts(),
        owedResults: owed.length,
        serverEpochSeen: serverEpoch.seen(),
      };
    },
    toldHashes: () => sectionHashes,
    uptimeMs: () => Math.round(clock.monotonicMs() - bootedAtMonotonicMs),
  };
}
