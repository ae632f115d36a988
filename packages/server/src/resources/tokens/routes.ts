import {
  ApiToken,
  CreateApiToken,
  CreatedApiToken,
  CreatedEnrollmentToken,
  CreateEnrollmentToken,
  EnrollmentToken,
  Id,
  PageQuery,
  pageOf,
} from '@gpufleet/shared/api';
import { z } from 'zod';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { createApiToken } from './create-api-token.ts';
import { createEnrollmentToken } from './create-enrollment-token.ts';
import { listEnrollmentTokens, revokeEnrollmentToken } from './enrollment-token-store.ts';
import { listApiTokens } from './list-api-tokens.ts';
import { revokeApiToken } from './revoke-api-token.ts';

const ById = z.strictObject({ id: Id });

export function tokenRoutes(app: App, deps: AppDeps): void {
  route(app, {
    method: 'GET',
    url: '/tokens',
    role: 'admin',
    summary: 'Lists API tokens',
    query: PageQuery,
    reply: pageOf(ApiToken),
    handle: ({ query }) => listApiTokens(deps.db.read, query),
  });
  route(app, {
    method: 'POST',
    url: '/tokens',
    role: 'admin',
    summary: 'Makes an API token; its secret is shown once',
    body: CreateApiToken,
    status: 201,
    reply: CreatedApiToken,
    handle: (call) => call.once((tx) => createApiToken(tx, deps, call.body, call.by), { secret: 'token' }),
  });
  route(app, {
    method: 'DELETE',
    url: '/tokens/:id',
    role: 'admin',
    summary: 'Revokes an API token',
    params: ById,
    handle: async ({ params, by }) => deps.db.write((tx) => revokeApiToken(tx, deps.clock.nowMs(), params.id, by)),
  });
  route(app, {
    method: 'GET',
    url: '/enrollment-tokens',
    role: 'operator',
    summary: 'Lists enrolment tokens',
    query: PageQuery,
    reply: pageOf(EnrollmentToken),
    handle: ({ query }) => listEnrollmentTokens(deps.db.read, query),
  });
  route(app, {
    method: 'POST',
    url: '/enrollment-tokens',
    role: 'operator',
    summary: 'Makes an enrolment token for a site; its secret is shown once',
    body: CreateEnrollmentToken,
    status: 201,
    reply: CreatedEnrollmentToken,
    handle: (call) => call.once((tx) => createEnrollmentToken(tx, deps, call.body, call.by), { secret: 'token' }),
  });
  route(app, {
    method: 'DELETE',
    url: '/enrollment-tokens/:id',
    role: 'operator',
    summary: 'Revokes an enrolment token',
    params: ById,
    handle: async ({ params, by }) =>
      deps.db.write((tx) => revokeEnrollmentToken(tx, deps.clock.nowMs(), params.id, by)),
  });
}
