import { FleetError } from '@gpufleet/shared/core';
import { sql } from 'drizzle-orm';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../deps.ts';

/** `/healthz`: the process answers. `/readyz`: it can read the store and is not going away. `/metrics`: for Prometheus. */
export function installHealth(app: FastifyInstance, deps: AppDeps, isDraining: () => boolean): void {
  const config = { role: 'public' } as const;
  const schema = { hide: true };
  app.get('/healthz', { config, schema }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config, schema }, async () => {
    if (isDraining()) throw new FleetError('shutting_down', 'the server is shutting down');
    await deps.db.read.get(sql`SELECT 1`);
    return { status: 'ready' };
  });
  app.get('/metrics', { config, schema }, async (_request, reply) => {
    const text = await deps.metrics.registry.metrics();
    return reply
      .header('content-type', deps.metrics.registry.contentType)
      .serializer((value: unknown) => String(value))
      .send(text);
  });
}
