import type { Role } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { createTokenUse, findApiToken } from '../resources/tokens/index.ts';
import type { FailedLogins } from './failed-logins.ts';
import { bearerOf, hashSecret } from './secrets.ts';

const rank: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

/** Asks every route but the public ones for an API token with the route's role. */
export function installAuth(app: FastifyInstance, deps: Deps, failedLogins: FailedLogins): void {
  const use = createTokenUse(deps);
  app.addHook('onClose', () => use.flush());
  app.addHook('onRequest', async (request) => {
    const role = request.routeOptions.config.role;
    if (role === undefined || role === 'public') return;
    const token = await authenticate(deps, failedLogins, request);
    if (rank[token.role] < rank[role])
      throw new FleetError('forbidden', `this needs the role ${role}; the token's role is ${token.role}`);
    use.note(token.id);
    request.actor = {
      id: `token:${token.id}`,
      name: `token:${token.name}`,
      role: token.role,
      isLive: async () => (await findApiToken(deps.db.read, token.hash, deps.clock.nowMs())) !== undefined,
    };
  });
}

async function authenticate(
  deps: Deps,
  failedLogins: FailedLogins,
  request: FastifyRequest,
): Promise<{ id: string; name: string; role: Role; hash: string }> {
  const secret = bearerOf(request.headers.authorization);
  if (secret === undefined) throw new FleetError('unauthenticated', 'send an API token as “Authorization: Bearer …”');
  const token = await findApiToken(deps.db.read, hashSecret(secret), deps.clock.nowMs());
  // A right one is never made to wait: behind a proxy everyone has one address, and anybody could shut all others out.
  if (token) return token;
  failedLogins.check(request.ip);
  failedLogins.add(request.ip);
  throw new FleetError('unauthenticated', 'the API token is wrong, expired or revoked');
}
