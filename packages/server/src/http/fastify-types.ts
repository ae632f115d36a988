import type { Role } from '@gpufleet/shared/api';
import type { Db } from '../db/index.ts';

export interface Actor {
  /** Of this very token; `name` is what people called it. */
  id: string;
  name: string;
  role: Role;
  /** Asks again: the token was neither revoked nor has it expired. */
  isLive(): Promise<boolean>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; null before authentication and on public routes. */
    actor: Actor | null;
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
