import { FleetError } from '@gpufleet/shared/core';
import { EnrollRequest, EnrollResponse } from '@gpufleet/shared/protocol';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { bearerOf, hashSecret } from '../../http/secrets.ts';
import { findEnrollmentToken } from '../tokens/index.ts';
import { badToken, enrollHost } from './enroll-host.ts';

export function enrollmentRoutes(app: App, deps: AppDeps): void {
  route(app, {
    method: 'POST',
    url: '/enroll',
    role: 'public',
    summary: 'Enrols a host; the bearer is an enrolment token',
    body: EnrollRequest,
    status: 201,
    reply: EnrollResponse,
    handle: async ({ body, request }) => {
      const secret = bearerOf(request.headers.authorization);
      if (secret === undefined)
        throw new FleetError('bad_enrollment_token', 'send the enrolment token as “Authorization: Bearer …”');
      // A right token is never made to wait: a whole site may come from one address. A wrong one costs no write.
      if (!(await findEnrollmentToken(deps.db.read, hashSecret(secret), deps.clock.nowMs()))) {
        deps.failedLogins.check(request.ip);
        deps.failedLogins.add(request.ip);
        throw badToken();
      }
      return deps.db.write((tx) => enrollHost(tx, deps, { secret, request: body, requestId: request.id }));
    },
  });
}
