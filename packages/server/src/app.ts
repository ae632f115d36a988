import type { FastifyInstance } from 'fastify';
import type { AppDeps, Deps } from './deps.ts';
import type { AttemptHandlers } from './gateway/attempt-handlers.ts';
import { createGateway } from './gateway/create-gateway.ts';
import type { Gateway } from './gateway/gateway.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createHttp } from './http/create-http.ts';
import { createFailedLogins } from './http/failed-logins.ts';
import { createMetrics } from './http/metrics.ts';
import { installGauges } from './http/server-gauges.ts';
import { createWorkMemory } from './loops/work-memory.ts';
import { createEventStream } from './resources/events/index.ts';
import { serverParts } from './server-parts.ts';

/** The parts behind the gateway; a test of the gateway brings its own. */
export interface ServerParts {
  createAttemptHandlers(deps: AppDeps): AttemptHandlers;
  /** Each begins a background loop and returns what ends it. */
  loops: readonly ((deps: AppDeps) => () => Promise<void> | void)[];
}

export interface BuiltApp {
  app: FastifyInstance;
  gateway: Gateway;
  deps: AppDeps;
  /** Begins the loops; called once it listens. */
  start(): void;
  /** Loops first, then agents, then requests; the store is the caller's. */
  close(): Promise<void>;
}

/** The whole server from its dependencies. It does not listen. */
export async function buildApp(deps: Deps, parts: ServerParts = serverParts): Promise<BuiltApp> {
  const metrics = createMetrics();
  const running = await createGateway(deps, metrics);
  const appDeps: AppDeps = {
    ...deps,
    gateway: running.gateway,
    metrics,
    failedLogins: createFailedLogins(deps.clock),
    eventStream: await createEventStream(deps),
    work: createWorkMemory(deps.clock),
  };
  installGauges(appDeps);
  let isDraining = false;
  const app = await createHttp(appDeps, () => isDraining);
  running.serve(app.server, parts.createAttemptHandlers(appDeps));
  let ends: (() => Promise<void> | void)[] = [];
  return {
    app,
    gateway: running.gateway,
    deps: appDeps,
    start() {
      ends = [startHousekeeping(appDeps), ...parts.loops.map((loop) => loop(appDeps))];
    },
    async close() {
      isDraining = true;
      for (const end of ends) await end();
      await running.close();
      await app.close();
    },
  };
}
