import type { Role } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Db } from '../db/database.ts';
import { problemReplies } from './problem.ts';

/**
 * How to add a route. In `resources/<r>/routes.ts`:
 *
 *   export function jobRoutes(app: App, deps: AppDeps): void {
 *     route(app, { method: 'GET', url: '/jobs', role: 'viewer', summary: 'Lists jobs', query: JobQuery,
 *       reply: pageOf(Job), handle: ({ query }) => listJobs(deps.db.read, query) });
 *     route(app, { method: 'POST', url: '/jobs', role: 'operator', summary: 'Creates a job', body: CreateJob,
 *       status: 201, reply: Job,
 *       handle: (call) => call.once((tx) => createJob(tx, deps, call.body, call.by)) });
 *   }
 *
 * and list the function in `resources/index.ts`. The url is under /api/v1. Schemas are strict zod objects; `role` is the
 * least role that may call. `call.by` is the actor and request id for `recordAudit`. A creating POST does its one write
 * through `call.once`, which honours Idempotency-Key in the same transaction. `call.ifVersion` is the If-Match version;
 * hand it to the update verb, which answers with `requireVersion`. A reply with a `version` gets its ETag. Failures are
 * FleetErrors: add a new code to `http/error-status.ts`.
 */
export interface RouteOptions<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: `/${string}`;
  /** `public`: without an API token. */
  role: Role | 'public';
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  /** Status of success; 200 when left out, 204 for no reply. */
  status?: 200 | 201 | 202 | 204;
  reply?: R;
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<ReplyOf<R>>;
}

/** What `handle` returns: nothing where there is no reply. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is the return type of `handle`, chosen by the reply.
export type ReplyOf<R extends z.ZodType> = R extends z.ZodUndefined ? void : z.input<R>;

/** Who does it, for the audit: the actor (`token:NAME`) and the request. */
export interface By {
  actor: string;
  requestId: string | null;
}

export interface Call<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
  by: By;
  /** Version named by If-Match; undefined without one. */
  ifVersion: number | undefined;
  /** One write that makes the reply; with an Idempotency-Key it runs once for that key, actor and body. */
  once<T>(body: (tx: Db) => Promise<T>, options?: { secret?: string }): Promise<T>;
  request: FastifyRequest;
  reply: FastifyReply;
}

export type App = FastifyInstance;

export function route<
  P extends z.ZodType = z.ZodObject,
  Q extends z.ZodType = z.ZodObject,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodUndefined,
>(app: App, options: RouteOptions<P, Q, B, R>): void {
  const status = options.status ?? (options.reply ? 200 : 204);
  app.route({
    method: options.method,
    url: options.url,
    config: { role: options.role },
    schema: {
      summary: options.summary,
      tags: [options.url.split('/')[1] ?? ''],
      ...(options.role === 'public' ? { security: [] } : {}),
      ...(options.params ? { params: options.params } : {}),
      querystring: options.query ?? z.strictObject({}),
      ...(options.body ? { body: options.body } : {}),
      response: { [status]: options.reply ?? z.null().describe('no content'), ...problemReplies },
    },
    handler: async (request, reply) => {
      // The validator compiler has parsed these with the schemas above: their types are the schemas' outputs.
      const call: Call<z.output<P>, z.output<Q>, z.output<B>> = {
        params: request.params as z.output<P>,
        query: request.query as z.output<Q>,
        body: request.body as z.output<B>,
        by: { actor: request.actor?.name ?? 'system:public', requestId: request.id },
        ifVersion: versionOf(request.headers['if-match']),
        once: (body, onceOptions) => request.server.runOnce(request, status, body, onceOptions),
        request,
        reply,
      };
      const result = await options.handle(call);
      if (reply.sent || reply.raw.headersSent) return reply;
      if (status === 204) return reply.code(204).send();
      const version = result !== null && typeof result === 'object' && 'version' in result ? result.version : undefined;
      if (typeof version === 'number') reply.header('etag', `"${version}"`);
      return reply.code(status).send(result);
    },
  });
}

/** For update verbs: refuses when the caller's If-Match names another version than the stored one. */
export function requireVersion(stored: number, ifVersion: number | undefined): void {
  if (ifVersion !== undefined && ifVersion !== stored)
    throw new FleetError('precondition_failed', `it has changed since: it is at version ${stored}, not ${ifVersion}`);
}

function versionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '*') return undefined;
  const match = /^(?:W\/)?"(\d{1,15})"$/.exec(header);
  if (!match) throw new FleetError('bad_if_match', 'If-Match must be an ETag of this API, e.g. "3"');
  return Number(match[1]);
}
