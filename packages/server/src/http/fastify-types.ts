import type { Role } from '@gpufleet/shared/api';
import type { Db } from '../db/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; null before authentication and on public routes. */
    actor: { id: string; name: string; role: Role } | null;
  }
  interface FastifyContextConfig {
    role?: Role | 'public';
  }
  interface FastifyInstance {
    runOnce<T>(
      request: FastifyRequest,
      status: number,
      body: (tx: Db) => Promise<T>,
      options?: { secret?: string },
    ): Promise<T>;
  }
}
