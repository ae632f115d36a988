import { createHash } from 'node:crypto';
import { FleetError, toCanonicalJson } from '@gpufleet/shared/core';
import { and, eq } from 'drizzle-orm';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Db } from '../db/index.ts';
import { idempotencyTable } from '../db/meta-table.ts';
import type { Deps } from '../deps.ts';

/**
 * `runOnce`: with an Idempotency-Key the body runs once for actor, key and request; a repeat gets the kept reply. The
 * look-up, the change and the kept reply are one transaction, so a crash leaves either all or nothing.
 */
export function installIdempotency(app: FastifyInstance, deps: Deps): void {
  app.decorate('runOnce', async function runOnce<
    T,
  >(request: FastifyRequest, status: number, body: (tx: Db) => Promise<T>, options: { secret?: string } = {}): Promise<T> {
    const key = keyOf(request);
    if (key === undefined) return deps.db.write(body);
    // By id: two tokens may have one name, and neither may read or block what the other makes.
    const actor = request.actor?.id ?? 'system:public';
    const requestHash = createHash('sha256')
      .update(toCanonicalJson([request.method, request.url, request.body ?? null]))
      .digest('hex');
    return deps.db.write(async (tx) => {
      const kept = (
        await tx
          .select()
          .from(idempotencyTable)
          .where(and(eq(idempotencyTable.actor, actor), eq(idempotencyTable.key, key)))
      )[0];
      if (kept) {
        if (kept.requestHash !== requestHash)
          throw new FleetError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
        if (options.secret !== undefined)
          throw new FleetError(
            'secret_already_shown',
            'this Idempotency-Key has made its token already, and a secret is shown once: revoke it and make another',
            { reply: JSON.parse(kept.body) },
          );
        // What was stored here is what an earlier run of this same body returned.
        return JSON.parse(kept.body) as T;
      }
      const result = await body(tx);
      await tx.insert(idempotencyTable).values({
        actor,
        key,
        requestHash,
        status,
        body: JSON.stringify(result, (name, value) => (name === options.secret ? undefined : value)),
        createdAtMs: deps.clock.nowMs(),
      });
      return result;
    });
  });
}

function keyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(header))
    throw new FleetError('bad_idempotency_key', 'an Idempotency-Key is 1–200 printable characters without blanks');
  return header;
}
