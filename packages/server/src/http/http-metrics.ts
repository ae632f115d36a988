import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Counts answers by route pattern, so that ids in paths make no new series. */
export function installHttpMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.httpRequests.inc({ method: request.method, route, status: reply.statusCode });
    metrics.httpSeconds.observe({ method: request.method, route }, reply.elapsedTime / 1_000);
  });
}
