import type { Clock } from '@gpufleet/shared/core';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { Signer } from './gateway/signer.ts';
import type { EventStream } from './http/event-stream.ts';
import type { FailedLogins } from './http/failed-logins.ts';
import type { Metrics } from './http/metrics.ts';
import type { WorkMemory } from './loops/work-memory.ts';

/** Everything that the server's parts are given; built once in `main.ts` or by a test. */
export interface Deps {
  config: Config;
  db: Database;
  clock: Clock;
  log: Logger;
  /** A new random id, url-safe, at most 32 characters, prefixed by its kind: `host_…`. */
  newId(prefix: string): string;
  /** `bytes` random bytes as base64url. */
  randomToken(bytes: number): string;
  signer: Signer;
}

/** What `buildApp` adds for resources and loops. */
export interface AppDeps extends Deps {
  gateway: Gateway;
  metrics: Metrics;
  failedLogins: FailedLogins;
  /** Who listens to `/events`. */
  eventStream: EventStream;
  work: WorkMemory;
}
