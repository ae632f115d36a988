import type { Socket } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { AppDeps } from '../deps.ts';
import { resources } from '../resources/index.ts';
import { version } from '../version.ts';
import { installAuth } from './auth.ts';
import { answerFrameworkError, installErrorHandler, type KnownRoute } from './error-handler.ts';
import './fastify-types.ts';
import { installHealth } from './health.ts';
import { installHttpMetrics } from './http-metrics.ts';
import { installIdempotency } from './idempotency.ts';
import { installJsonBody } from './json-body.ts';
import { installOpenApi } from './openapi.ts';
import { installSecureHeaders } from './secure-headers.ts';
import { validatorCompiler } from './validate.ts';

const bodyLimitBytes = 1024 * 1024;
const apiPrefix = '/api/v1';

/** The REST API, complete but not listening. */
export async function createHttp(deps: AppDeps, isDraining: () => boolean): Promise<FastifyInstance> {
  const app = Fastify({
    // Widened, so that the instance has fastify's own type and not one of pino's.
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => deps.newId('req'),
    requestIdHeader: false,
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 128 },
    requestTimeout: 60_000,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerFrameworkError,
  });
  const routes: KnownRoute[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });
  app.decorateRequest('actor', null);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  installErrorHandler(app, () => routes);
  installSecureHeaders(app);
  installHttpMetrics(app, deps.metrics);
  installJsonBody(app);
  installIdempotency(app, deps);
  installAuth(app, deps, deps.failedLogins);
  await installOpenApi(app, version);
  installHealth(app, deps, isDraining);
  await app.register(
    async (api) => {
      for (const resource of resources) resource(api, deps);
      api.get('/openapi.json', { config: { role: 'public' }, schema: { hide: true } }, async (_request, reply) =>
        reply
          .header('content-type', 'application/json; charset=utf-8')
          .serializer((value: unknown) => JSON.stringify(value))
          .send(app.swagger()),
      );
    },
    { prefix: apiPrefix },
  );
  // Streams never end by themselves: closing waits for requests.
  app.addHook('preClose', async () => deps.eventStream.close());
  await app.ready();
  return app;
}

/** What is no HTTP never reaches a route: answered here, in the same form. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'headers_too_large']
      : ['400 Bad Request', 'bad_request'];
  const problem = {
    type: `urn:gpufleet:error:${code}`,
    title: code.replaceAll('_', ' '),
    status: Number(status.slice(0, 3)),
    code,
  };
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
