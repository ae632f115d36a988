import type { Problem } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorStatus } from './error-status.ts';
import { problemContentType } from './problem.ts';
import { secureHeaders } from './secure-headers.ts';

type Failure = {
  code: string;
  detail?: string | undefined;
  errors?: Problem['errors'];
  headers?: Record<string, string>;
};

/** The only place that knows how a failure looks over HTTP: problem details (RFC 9457) with our stable code. */
export function installErrorHandler(app: FastifyInstance, knownRoutes: () => readonly KnownRoute[]): void {
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const allowed = allowedMethods(knownRoutes(), request.url);
    if (allowed.length === 0 || allowed.includes(request.method))
      return sendProblem(request, reply, 404, { code: 'not_found', detail: `there is nothing at ${pathOf(request)}` });
    return sendProblem(request, reply, 405, {
      code: 'method_not_allowed',
      detail: `${pathOf(request)} takes ${allowed.join(', ')}`,
      headers: { allow: allowed.join(', ') },
    });
  });
}

/** What fastify refuses before it looks for a route, such as a path that cannot be decoded: no hook has run. */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(secureHeaders).header('x-request-id', request.id);
  answerError(error, request, reply);
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toFailure(error, request);
  const status = errorStatus[failure.code] ?? 500;
  if (status >= 500) request.log.error({ err: error, code: failure.code }, 'request failed');
  return sendProblem(request, reply, status, failure);
}

export interface KnownRoute {
  method: string;
  /** Path with `:name` parameters. */
  url: string;
}

function allowedMethods(routes: readonly KnownRoute[], url: string): string[] {
  const path = url.split('?')[0] ?? '';
  const parts = path.split('/');
  const matching = routes.filter((route) => {
    const pattern = route.url.split('/');
    return pattern.length === parts.length && pattern.every((part, i) => part.startsWith(':') || part === parts[i]);
  });
  return [...new Set(matching.map((route) => route.method))].sort();
}

/** Fastify's own failures by its code: ours, and a sentence where its own would not help. */
const fastifyFailures: Readonly<Record<string, Failure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body_too_large', detail: 'the body is longer than 1 MiB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'unsupported_media_type', detail: 'send application/json' },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'bad_json', detail: 'the body is not valid JSON' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'bad_json', detail: 'the body is empty' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'bad_request', detail: 'the body is not as long as its Content-Length' },
  FST_ERR_BAD_URL: { code: 'bad_request', detail: 'the path is not a valid URL path' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not_found', detail: 'no id is as long as the one in the path' },
};

function toFailure(error: FastifyError | FleetError, request: FastifyRequest): Failure {
  if (error instanceof FleetError) {
    const { retryAfterMs } = error.context;
    const headers: Record<string, string> =
      typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } : {};
    const errors = Array.isArray(error.context.errors) ? (error.context.errors as Problem['errors']) : undefined;
    return { code: error.code, detail: error.message, errors, headers };
  }
  const known = fastifyFailures[error.code];
  if (known) return known;
  if (error instanceof SyntaxError && request.routeOptions.url) return { code: 'bad_json', detail: error.message };
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return { code: 'bad_request', detail: error.message };
  return { code: 'internal', detail: 'the server failed; its log has the reason under this request id' };
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, status: number, failure: Failure): FastifyReply {
  const problem: Problem = {
    type: `urn:gpufleet:error:${failure.code}`,
    title: failure.code.replaceAll('_', ' '),
    status,
    code: failure.code,
    ...(failure.detail === undefined ? {} : { detail: failure.detail }),
    instance: pathOf(request),
    requestId: request.id,
    ...(failure.errors === undefined ? {} : { errors: failure.errors }),
  };
  return reply
    .code(status)
    .headers(failure.headers ?? {})
    .header('content-type', problemContentType)
    .serializer((value: unknown) => JSON.stringify(value))
    .send(problem);
}

function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').slice(0, 200);
}
