import { FleetError } from '@gpufleet/shared/core';
import { EnrollRequest, EnrollResponse } from '@gpufleet/shared/protocol';
import type { AppDeps } from '../../deps.ts';
import { type App, route } from '../../http/route.ts';
import { bearerOf } from '../../http/secrets.ts';
import { enrollHost } from './enroll-host.ts';

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
      deps.failedLogins.check(request.ip);
      const secret = bearerOf(request.headers.authorization);
      if (secret === undefined)
        throw new FleetError('bad_enrollment_token', 'send the enrolment token as “Authorization: Bearer …”');
      try {
        return await deps.db.write((tx) => enrollHost(tx, deps, { secret, request: body, requestId: request.id }));
      } catch (error) {
        if (error instanceof FleetError && error.code === 'bad_enrollment_token') deps.failedLogins.add(request.ip);
        throw error;
      }
    },
  });
}
